import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createBackupNotes } from '../src/backup/backup-notes.ts';
import { makeBackup } from '../src/backup/make-backup.ts';
import { fill, openBackupBench, rowsOf, unpack } from './open-backup-bench.ts';
import { envelope } from './open-test-core.ts';

const bench = openBackupBench();
const { ask, importBackup, inData, open, restart, upload } = bench;

describe('a backup', () => {
  test('contains the databases, the configuration and the finished uploads, and no staged upload', async () => {
    await open({ before: fill });
    await bench.core.handle(envelope('remember the tulips'));
    const bytes = randomBytes(300_000);
    const file = await upload('tulip.bin', bytes);
    await ask('POST', '/v2/upload/init', { filename: 'half', mime: 'text/plain', size: 5 });
    const { archive } = await bench.makeBackup();
    const files = unpack(archive);
    const uploaded = path.relative(bench.core.folder, file.path);
    expect([...files.keys()]).toEqual([
      'backup.json',
      'collector.db',
      'core.db',
      'instances/compat/offset.json',
      'manager.db',
      'pricing.json',
      uploaded,
      'uploads/manifest.jsonl',
    ]);
    expect(files.get(uploaded)).toEqual(bytes);
    expect(JSON.stringify(rowsOf(files.get('core.db') ?? Buffer.of()))).toContain('remember the tulips');
    expect(rowsOf(files.get('manager.db') ?? Buffer.of())['thing']).toEqual([{ x: 'manager' }]);
  });
});

/** Makes a backup, and does something while its databases are packed, which come first. */
async function makeMeanwhile(meanwhile: () => void): Promise<Map<string, Buffer>> {
  const { paths, db } = bench.core.context;
  const notes = createBackupNotes(paths.backups);
  const id = 'bak_0000000000000000001';
  notes.prepare();
  let isDone = false;
  await makeBackup({
    id,
    db,
    paths,
    notes,
    secretsFile: '',
    version: '0.1.0',
    createdAt: Date.now(),
    passphrase: null,
    signal: new AbortController().signal,
    onLeftOut: () => undefined,
    onProgress() {
      if (!isDone) meanwhile();
      isDone = true;
    },
  });
  expect(isDone).toBe(true);
  return unpack(readFileSync(notes.archiveOf(id)));
}

test('a backup contains the list of uploads as it was before a rewrite during packing', async () => {
  await open({ before: fill });
  const kept = await upload('tulip.bin', Buffer.from('tulip'));
  const list = path.join(bench.core.context.paths.uploads, 'manifest.jsonl');
  const before = readFileSync(list, 'utf8');
  const files = await makeMeanwhile(() => writeFileAtomic(list, ''));
  expect(files.get('uploads/manifest.jsonl')?.toString()).toBe(before);
  expect(files.has(path.relative(bench.core.folder, kept.path))).toBe(true);
});

test('[V10] a file into which a connector writes a secret during the backup is not packed in the clear', async () => {
  await open({ before: fill });
  const state = inData('instances/compat/state.json');
  writeFileSync(state, '{"seen":1}');
  const files = await makeMeanwhile(() => writeFileSync(state, '{"access_token":"canary-0123456789-d"}'));
  expect([...files.keys()]).toContain('instances/compat/offset.json');
  expect([...files.keys()]).not.toContain('instances/compat/state.json');
});

describe('custom files of the operator', () => {
  const code = 'connectors/shop/src/index.ts';
  const put = (name: string, content: string | Buffer = 'x') => {
    mkdirSync(path.dirname(inData(name)), { recursive: true });
    writeFileSync(inData(name), content);
  };

  test('include moderation rules and connector code, without packages, links and keys', async () => {
    await open();
    put('moderation.deny.txt', 'launch codes');
    put(code, 'export const meta = {};');
    put('connectors/shop/session-token.ts');
    const left = ['shop/.env', 'shop/.git/config', 'shop/node_modules/a/index.js', 'shop/client.pem', '.npm/a.js', 'loose.js'];
    for (const name of [...left, 'node_modules/a.js']) put(`connectors/${name}`);
    symlinkSync(bench.core.folder, inData('connectors', 'linked'));
    symlinkSync(inData('core.db'), inData('connectors', 'shop', 'database'));
    const files = unpack((await bench.makeBackup()).archive);
    expect([...files.keys()].filter((name) => !/\.(?:db|json)$/.test(name))).toEqual([
      'connectors/shop/session-token.ts',
      code,
      'moderation.deny.txt',
    ]);
    expect(files.get('moderation.deny.txt')?.toString()).toBe('launch codes');
  });

  test('are skipped when they are symbolic links', async () => {
    await open();
    const outside = temporaryFolder();
    mkdirSync(path.join(outside.path, 'shop'));
    writeFileSync(path.join(outside.path, 'shop', 'index.ts'), 'x');
    rmSync(inData('connectors'), { recursive: true, force: true });
    symlinkSync(outside.path, inData('connectors'));
    symlinkSync(path.join(outside.path, 'shop', 'index.ts'), inData('moderation.deny.txt'));
    expect([...unpack((await bench.makeBackup()).archive).keys()]).toEqual(['backup.json', 'core.db']);
    outside.remove();
  });

  test.each<[string, () => void]>([
    ['has too many files', () => Array.from({ length: 2001 }, (_, index) => put(`connectors/big/${index}`))],
    ['is too large', () => put('connectors/big/a', Buffer.alloc(32 * 1024 * 1024 + 1))],
    ['has names that differ in their letters only', () => [put('connectors/big/a'), put('connectors/big/A')]],
  ])('omit a connector that %s, and log a warning', async (_, fillBig) => {
    const warn = vi.fn();
    await open();
    bench.core.context.log.warn = warn;
    fillBig();
    put(code);
    const names = [...unpack((await bench.makeBackup()).archive).keys()];
    expect(names.filter((name) => name.startsWith('connectors/'))).toEqual([code]);
    expect(warn.mock.calls).toEqual([[{ connector: 'big', backup: expect.any(String) }, expect.any(String)]]);
  });

  test('are restored, and files missing from the backup stay', async () => {
    await open();
    put('moderation.deny.txt', 'launch codes');
    put(code, 'first');
    const { archive } = await bench.makeBackup();
    put('moderation.deny.txt', '');
    put(code, 'second');
    put('connectors/shop/.env', 'newer');
    put('connectors/other/index.ts', 'newer');
    expect((await importBackup(archive)).statusCode).toBe(200);
    await restart();
    const texts = ['moderation.deny.txt', code, 'connectors/shop/.env', 'connectors/other/index.ts'];
    expect(texts.map((name) => readFileSync(inData(name), 'utf8'))).toEqual(['launch codes', 'first', 'newer', 'newer']);
  });
});
