import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualLimits } from '../src/backup/archive-rules.ts';
import { readArchive } from '../src/backup/read-archive.ts';
import { contentsFor, tar, tarGz, type TarEntry } from './make-archive.ts';
import { fill, openBackupBench, unpack } from './open-backup-bench.ts';
import { envelope } from './open-test-core.ts';

describe('[S02] hostile backup archive', () => {
  const upload = (name: string, over: Partial<TarEntry> = {}): TarEntry => ({ name, content: Buffer.from('x'), ...over });
  let real: TarEntry[] = [];
  const withReal = (...entries: TarEntry[]) => tarGz([...real, ...entries, contentsFor([...real, ...entries])]);

  /** Zeros beyond the compression limit, which applies after some slack. */
  const bombBytes = usualLimits.slackBytes * 1.5;

  const hostile: [string, () => Buffer][] = [
    ['dot-dot', () => withReal(upload('uploads/../../evil'))],
    ['dot-dot at the start', () => withReal(upload('../evil'))],
    ['dot-dot that stays inside', () => withReal(upload('uploads/a/../b'))],
    ['a name that differs by a dot', () => withReal(upload('uploads/./b'))],
    ['an absolute name', () => withReal(upload('/tmp/svc-evil'))],
    ['an absolute name in an extended header', () => withReal(upload('uploads/fine', { pax: '/tmp/svc-evil' }))],
    ['dot-dot in an extended header', () => withReal(upload('uploads/fine', { pax: 'uploads/../../evil' }))],
    ['a backslash', () => withReal(upload('uploads\\..\\evil'))],
    ['a backslash below', () => withReal(upload('uploads/..\\evil'))],
    ['a NUL', () => withReal(upload('uploads/fine', { pax: 'uploads/a\0b' }))],
    ['a line break', () => withReal(upload('uploads/a\nb'))],
    ['a drive', () => withReal(upload('C:/evil'))],
    ['a file of no backup', () => withReal(upload('run/supervisor.json'))],
    ['secrets in the clear', () => withReal(upload('secrets.json'))],
    ['keys in the clear', () => withReal(upload('instances/compat/keys.json'))],
    ['pages of a database', () => withReal(upload('core.db-wal'))],
    [
      'a link among connectors',
      () => withReal(upload('connectors/shop/a', { type: '2', linkname: '/etc', content: Buffer.of() })),
    ],
    ['packages of a connector', () => withReal(upload('connectors/shop/node_modules/a/index.js'))],
    ['packages of all connectors', () => withReal(upload('connectors/Node_Modules/@svc/connector-kit/index.js'))],
    ['hidden files of a connector', () => withReal(upload('connectors/shop/.env'))],
    ['a key of a connector', () => withReal(upload('connectors/shop/client.PEM'))],
    ['code of no connector', () => withReal(upload('connectors/index.js'))],
    ['a deny file in a folder', () => withReal(upload('moderation.deny.txt/a'))],
    ['staging', () => withReal(upload('uploads/.staging/upl_1/data'))],
    ['an empty part', () => withReal(upload('uploads//a'))],
    ['a name that is too long', () => withReal(upload('uploads/a', { pax: `uploads/${'a'.repeat(300)}` }))],
    ['a symbolic link', () => withReal(upload('uploads/a', { type: '2', linkname: '/etc', content: Buffer.of() }))],
    [
      'a link, and a file through it',
      () => withReal(upload('uploads/a', { type: '2', linkname: '/tmp', content: Buffer.of() }), upload('uploads/a/svc-evil')),
    ],
    ['a hard link', () => withReal(upload('uploads/a', { type: '1', linkname: '../../core.db', content: Buffer.of() }))],
    ['a fifo', () => withReal(upload('uploads/a', { type: '6', content: Buffer.of() }))],
    ['a device', () => withReal(upload('uploads/a', { type: '3', content: Buffer.of() }))],
    ['a folder', () => withReal(upload('uploads/a/', { type: '5', content: Buffer.of() }))],
    ['a name twice', () => withReal(upload('uploads/a'), upload('uploads/a'))],
    ['a name twice but for its letters', () => withReal(upload('uploads/a'), upload('uploads/A'))],
    ['a file that is also a folder', () => withReal(upload('uploads/a'), upload('uploads/a/b'))],
    ['the contents twice', () => tarGz([...real, contentsFor(real), contentsFor(real)])],
    ['no contents', () => tarGz(real)],
    ['contents that are no JSON', () => tarGz([...real, { name: 'backup.json', content: Buffer.from('{') }])],
    ['contents of another shape', () => tarGz([...real, contentsFor(real, { files: 'none' })])],
    ['a newer format', () => tarGz([...real, contentsFor(real, { format: 2 })])],
    ['a newer version', () => tarGz([...real, contentsFor(real, { version: '999.0.0' })])],
    ['a file that is not listed', () => tarGz([...real, upload('uploads/a'), contentsFor(real)])],
    ['a file that is not there', () => tarGz([...real, contentsFor([...real, upload('uploads/a')])])],
    [
      'another content than was promised',
      () => tarGz([...real, upload('uploads/a', { content: Buffer.from('y') }), contentsFor([...real, upload('uploads/a')])]),
    ],
    ['no core database', () => tarGz([contentsFor([])])],
    ['a database that is not one', () => withReplaced(Buffer.from('SQLite format 3\0 but nothing behind it'))],
    ['a damaged database', () => withReplaced(damaged(real[0]?.content ?? Buffer.of()))],
    ['a database of a newer version', () => withReplaced(newer(real[0]?.content ?? Buffer.of()))],
    ['a database of something else', () => withReplaced(foreign())],
    ['a cut off archive', () => withReal().subarray(0, -2000)],
    ['an archive cut off between two files', () => gzipSync(tar([...real, contentsFor(real)]).subarray(0, 4096))],
    ['a size that lies', () => withReal(upload('uploads/a', { size: 1_000_000 }))],
    ['a size in binary that lies', () => withReal(upload('uploads/a', { size: 2 ** 40 }))],
    ['a size that is below nothing', () => withReal(upload('uploads/a', { size: -1 }))],
    ['a header whose sum is wrong', () => gzipSync(spoiled(tar([...real, contentsFor(real)])))],
    ['something behind its end', () => gzipSync(Buffer.concat([tar([...real, contentsFor(real)]), tar([upload('uploads/a')])]))],
    ['no end', () => gzipSync(tar([...real, contentsFor(real)]).subarray(0, -1024))],
    ['a size of half a terabyte', () => withReal(upload('uploads/a', { size: 8_589_934_591 }))],
    ['no gzip', () => randomBytes(5000)],
    ['gzip of something else', () => gzipSync(randomBytes(5000))],
    ['a header of 64 MiB', () => gzipSync(tar([{ name: 'PaxHeader', type: 'x', content: Buffer.alloc(64 * 1024 * 1024, 'a') }]))],
    ['a bomb', () => withReal(upload('uploads/a', { content: Buffer.alloc(bombBytes) }))],
    ['a bomb of nothing', () => gzipSync(Buffer.alloc(bombBytes))],
    ['nothing', () => gzipSync(Buffer.of())],
  ];

  const withReplaced = (content: Buffer) => {
    const entries = [{ name: 'core.db', content }];
    return tarGz([...entries, contentsFor(entries)]);
  };

  describe('is refused and changes nothing', () => {
    // No case changes anything, so all of them can share a core.
    const shared = openBackupBench(afterAll);
    let before: Record<string, string> = {};
    beforeAll(async () => {
      await shared.open({ before: fill });
      await shared.core.handle(envelope('hello'));
      const { archive } = await shared.makeBackup();
      real = [{ name: 'core.db', content: unpack(archive).get('core.db') ?? Buffer.of() }];
      await shared.core.context.db.flush();
      await vi.waitFor(() => expect(shared.core.context.db.raw.isTransaction).toBe(false));
      before = stateOf(shared.core.folder);
    });

    test.each(hostile)('%s', async (_name, make) => {
      const answer = await shared.importBackup(make());
      expect(answer.statusCode, answer.body).toBe(422);
      expect(stateOf(shared.core.folder)).toEqual(before);
      expect((await shared.list()).restore).toBeNull();
      expect(existsSync('/tmp/svc-evil')).toBe(false);
    });
  });

  describe('limits of the checks', () => {
    // Each pending restore is undone.
    const { ask, importBackup, makeBackup, open } = openBackupBench(afterAll);
    beforeAll(async () => {
      await open({ before: fill });
      const { archive } = await makeBackup();
      real = [{ name: 'core.db', content: unpack(archive).get('core.db') ?? Buffer.of() }];
    });

    async function expectTaken(archive: Buffer): Promise<void> {
      expect((await importBackup(archive)).statusCode).toBe(200);
      expect((await ask('DELETE', '/v2/backups/restore')).json()).toEqual({ ok: true, undone: 'pending' });
    }

    test.each(['7', 'S', 'Z', '\0'])('an unknown entry type %j is accepted as a plain file', async (type) => {
      await expectTaken(withReal(upload('uploads/2026-01-01/a', { type })));
    });

    test('the plain file that the hostile cases vary is accepted', async () => {
      await expectTaken(withReal(upload('uploads/2026-01-01/a')));
    });

    test('reading an archive with a million entries stops early', async () => {
      const one = tar([upload('uploads/000000')]).subarray(0, 1024);
      const entries = Array.from({ length: 1_000_000 }, (_, index) => index);
      const body = Readable.from(
        (function* () {
          for (const index of entries) {
            const copy = Buffer.from(one);
            copy.write(String(index).padStart(7, '0'), 8);
            copy.write('        ', 148);
            const sum = copy.subarray(0, 512).reduce((total, byte) => total + byte, 0);
            copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
            yield copy;
          }
        })(),
      ).pipe(createGzip({ level: 1 }));
      const limits = { ...usualLimits, maxEntries: 1000, maxBytes: Infinity };
      const nothing = { write: () => Promise.resolve(), end: () => Promise.resolve() };
      await expect(readArchive(body, limits, () => Promise.resolve(nothing))).rejects.toThrow('more than 1000 files');
    });
  });
});

/** Hashes of all files in the data folder. */
function stateOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const names = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(path.join(folder, name)))
        .digest('hex'),
    ]),
  );
}

/** Changes one byte of the first header. */
function spoiled(archive: Buffer): Buffer {
  const copy = Buffer.from(archive);
  copy[0] = (copy[0] ?? 0) + 1;
  return copy;
}

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, 4096, 3 * 4096);
  return copy;
}

function changedDb(bytes: Buffer | null, sql: string): Buffer {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'x.db');
  if (bytes !== null) writeFileSync(file, bytes);
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode=DELETE; ${sql}`);
  db.close();
  const changed = readFileSync(file);
  folder.remove();
  return changed;
}

const newer = (bytes: Buffer) => changedDb(bytes, `INSERT INTO schema_migration VALUES ('999-from-tomorrow.sql', 1)`);

const foreign = () => changedDb(null, 'CREATE TABLE bookmark (x)');
