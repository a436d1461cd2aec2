import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backup, RestorePlan } from '@svc/contract/backup.ts';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { runSvc } from '@svc/testing/run-svc.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
const inFolder = (name: string) => path.join(folder.path, name);
let core: Awaited<ReturnType<typeof startCore>>;
let ports: { core: number; manager: number; collector: number };
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const [one, manager, collector] = (await freePorts(3)) as [number, number, number];
  ports = { core: one, manager, collector };
  env = {
    PATH: process.env['PATH'],
    HOME: folder.path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_DATA_DIR: inFolder('data'),
    SVC_CORE_PORT: String(one),
  };
  core = await startCore(inFolder('data'), ports);
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.exited;
  folder.remove();
});

const svc = (args: string[], input = '') => runSvc(args, { env, input });
async function json<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await svc([...args, '--json']);
  expect(code, err).toBe(0);
  return JSON.parse(out) as T;
}

describe('svc upload', () => {
  test('stores a file and reports its name, size, type and path', async () => {
    writeFileSync(inFolder('a note.txt'), 'a tulip');
    const sent = await svc(['upload', inFolder('a note.txt')]);
    expect(sent, sent.err).toMatchObject({ code: 0, out: expect.stringContaining('Uploaded a note.txt, 7 B') as string });
    const file = await json<UploadedFile>('upload', inFolder('a note.txt'), '--mime', 'text/plain', '--parallel', '2');
    expect(file).toMatchObject({ name: 'a note.txt', mime: 'text/plain', kind: 'text', bytes: 7 });
    expect(readFileSync(file.path, 'utf8')).toBe('a tulip');
  });

  test('sends an empty file, and refuses a file of unknown size', async () => {
    writeFileSync(inFolder('empty.txt'), '');
    const sent = await svc(['upload', inFolder('empty.txt')]);
    expect(sent, sent.err).toMatchObject({ code: 0, out: expect.stringContaining('Uploaded empty.txt, 0 B') as string });
    const unsized = await svc(['upload', '/proc/self/status']);
    expect(unsized).toMatchObject({ code: 1, out: '' });
    if (process.platform === 'linux') expect(unsized.err).toContain('does not say how long it is');
  });

  test('uploads several files, lists them newest first in pages, and deletes them', async () => {
    for (const name of ['one.txt', 'two.txt']) writeFileSync(inFolder(name), name);
    const sent = await svc(['upload', inFolder('one.txt'), inFolder('two.txt')]);
    expect(sent.out).toMatch(/Uploaded one\.txt.*\n.*\nUploaded two\.txt/);
    const page = await json<{ files: ManifestEntry[]; next: string | null }>('upload', 'list', '-n', '2');
    expect(page.files.map(({ name }) => name)).toEqual(['two.txt', 'one.txt']);
    const [two, one] = page.files as [ManifestEntry, ManifestEntry];
    const listed = await svc(['upload', '-n', '1']);
    expect(listed.out).toMatch(new RegExp(`${two.id}.* 7 B {2}two\\.txt\\n {2}More: ./svc upload list --before ${two.id}\\n$`));
    expect((await svc(['upload', 'list', '--before', 'upl_none'])).out).toBe('No file is older than upl_none.\n');
    const removed = await svc(['upload', 'remove', two.id]);
    expect(removed).toMatchObject({ code: 0, out: 'Deleted two.txt.\n' });
    const again = await svc(['upload', 'remove', one.id, two.id]);
    expect(again).toMatchObject({ code: 1, out: 'Deleted one.txt.\n' });
    expect(again.err).toContain(`${two.id} was not deleted.`);
    expect([existsSync(one.path), existsSync(two.path)]).toEqual([false, false]);
  });

  test('names the size limit that a file exceeds, and the setting for it', async () => {
    writeFileSync(inFolder('huge.bin'), '');
    truncateSync(inFolder('huge.bin'), 129 * 1024 ** 3);
    const { code, err } = await svc(['upload', inFolder('huge.bin')]);
    expect(code).toBe(1);
    expect(err).toContain('At most 128.0 GiB are accepted. SVC_UPLOAD_MAX_SIZE sets that limit');
  });

  test.each([
    [['upload', 'not-there.txt'], 'svc: there is no file not-there.txt.'],
    [['transcribe', '/not/there.ogg'], 'svc: there is no file /not/there.ogg.'],
    [['speak', '-o', '/not/there/hello.wav', 'hello'], 'svc: there is no folder /not/there.'],
    [['backup', 'restore', './not-there.tar.gz'], 'svc: there is no file ./not-there.tar.gz.'],
    [['backup', 'get', 'bak_1', '/not/there/copy.tar.gz'], 'svc: there is no folder /not/there.'],
    [['upload', 'x', '--parallel', '0'], 'from 1 to 16'],
    [['upload', 'x', '--parallel', 'many'], 'a whole'],
    [['upload', '.'], ''],
  ])('%j fails with the reason, and without a stack trace', async (args, why) => {
    const { code, err, out } = await svc(args);
    expect(code).not.toBe(0);
    expect(out).toBe('');
    expect(err).toContain(why);
    expect(err).not.toContain('    at ');
    expect(err).not.toContain('doctor');
  });
});

describe('svc announce', () => {
  test('posts, lists and removes an announcement', async () => {
    const posted = await svc(['announce', 'add', 'The', 'printer', 'is', 'empty.', '--urgent', '--until', '1h', '--from', 'ops']);
    expect(posted, posted.err).toMatchObject({ code: 0, out: expect.stringMatching(/^Posted as 1\. Every/) as string });
    expect((await svc(['announce', 'add', 'For Anna', '--to', 'identity:anna'])).out).toContain(
      '"identity:anna" names nobody yet',
    );
    const refused = await svc(['announce', 'add', 'For Anna', '--to', 'surface:']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--to takes "*", a conversation key') as string });
    expect(refused.err).not.toContain('target');
    const { out } = await svc(['announce']);
    expect(out).toMatch(
      /^ {2}1 {2}for everybody, urgent, from ops, since .*, until .*\n {6}The printer is empty\.\n {2}2 {2}for identity:anna/,
    );
    expect(await svc(['announce', 'remove', '1'])).toMatchObject({ code: 0 });
    const { announcements } = await json<{ announcements: { id: number }[] }>('announce', 'list');
    expect(announcements.map(({ id }) => id)).toEqual([2]);
    const gone = await svc(['announce', 'remove', '1']);
    expect(gone).toMatchObject({ code: 1, out: '', err: expect.stringContaining('There is no announcement "1".') as string });
    expect((await svc(['announce', 'add', 'late', '--until', '2020-01-01'])).err).toContain('that time has passed');
  });
});

describe('svc backup', () => {
  test('makes, lists, copies and deletes backups', async () => {
    const made = await json<Backup>('backup', 'create');
    expect(made).toMatchObject({ state: 'done', has_secrets: false });
    const { backups } = await json<{ backups: Backup[] }>('backup', 'list');
    expect(backups.map(({ id }) => id)).toEqual([made.id]);
    expect((await svc(['backup', 'list'])).out).toContain(made.id);
    expect((await svc(['backup', 'get', made.id, inFolder('b.tar.gz')])).code).toBe(0);
    expect(readFileSync(inFolder('b.tar.gz'))).toHaveLength(made.bytes ?? 0);
    const again = await svc(['backup', 'get', made.id, inFolder('b.tar.gz')]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('already exists') as string });
    expect((await svc(['backup', 'remove', made.id])).code).toBe(0);
    expect((await json<{ backups: Backup[] }>('backup', 'list')).backups).toEqual([]);
    expect((await svc(['backup', 'restore', made.id])).err).toContain(`there is no backup "${made.id}"`);
  });

  test('schedules a restore from a file or an id, and undoes it, also without a running service', async () => {
    const { id } = await json<Backup>('backup', 'create');
    rmSync(inFolder('c.tar.gz'), { force: true });
    await svc(['backup', 'get', id, inFolder('c.tar.gz')]);
    for (const what of [inFolder('c.tar.gz'), id]) {
      expect(await json<RestorePlan>('backup', 'restore', what)).toMatchObject({ secrets: 'kept' });
      expect(await json<object>('backup', 'undo')).toMatchObject({ undone: 'pending' });
    }
    await json<RestorePlan>('backup', 'restore', id);
    core.child.kill('SIGKILL');
    await core.exited;
    expect((await svc(['backup', 'list'])).code).not.toBe(0);
    expect(await json<object>('backup', 'undo')).toMatchObject({ undone: 'pending' });
    expect((await svc(['backup', 'undo'])).err).toContain('there is no restore to be undone');
    core = await startCore(inFolder('data'), ports);
    expect(existsSync(inFolder('data/restore/plan.json'))).toBe(false);
  });

  test('encrypts secrets with a piped passphrase, without which they are not restored', async () => {
    writeFileSync(inFolder('data/secrets.json'), '{"OPENAI_API_KEY":"canary-0123456789"}', { mode: 0o600 });
    const made = await svc(['backup', 'create', '--secrets', '--json'], 'tulips in March\n');
    const { id, has_secrets } = JSON.parse(made.out) as Backup;
    expect(has_secrets).toBe(true);
    expect((await svc(['backup', 'create', '--secrets'], 'short\n')).err).toContain('too short');
    const wrong = await svc(['backup', 'restore', id, '--secrets'], 'tulips in April\n');
    expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('passphrase')]);
    const right = await svc(['backup', 'restore', id, '--secrets', '--json'], 'tulips in March\n');
    expect(JSON.parse(right.out)).toMatchObject({ secrets: 'restored' });
    expect(await json<object>('backup', 'undo')).toMatchObject({ undone: 'pending' });
  });

  test('refuses a file that is not a backup, and says why', async () => {
    const { code, err } = await svc(['backup', 'restore', inFolder('a note.txt')]);
    expect([code === 0, err]).toEqual([false, expect.stringContaining('damaged or not a backup')]);
    expect((await svc(['backup', 'undo'])).err).toMatch(/there is no restore to undo/i);
  });
});
