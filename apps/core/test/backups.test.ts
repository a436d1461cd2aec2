import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Backup, RestorePlan, RestoreState } from '@svc/contract/backup.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { applyRestore } from '@svc/service-kit/restore/apply-restore.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { Backups } from '../src/backup/backups.ts';
import { readArchive, usualLimits } from '../src/backup/read-archive.ts';
import { startClosedCore } from '../src/closed-core.ts';
import { startCore } from '../src/start-core.ts';
import { contentsFor, tar, tarGz, type TarEntry } from './make-archive.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
afterEach(() => core.close());
const open = async (options: Parameters<typeof openTestCore>[0] = {}) => (core = await openTestCore(options));
const inData = (...parts: string[]) => path.join(core.folder, ...parts);

const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => core.app.inject({ method, url, payload });
const list = async () => (await ask('GET', '/v2/backups')).json<{ backups: Backup[]; restore: RestoreState | null }>();

async function makeBackup(body?: object): Promise<{ id: string; archive: Buffer }> {
  const answer = await ask('POST', '/v2/backups', body);
  expect(answer.statusCode, answer.body).toBe(202);
  const { id } = answer.json<{ id: string }>();
  await core.context.backups.settled();
  expect((await list()).backups.find((backup) => backup.id === id)).toMatchObject({ state: 'done', error: null });
  const download = await ask('GET', `/v2/backups/${id}`);
  expect(download.statusCode).toBe(200);
  return { id, archive: download.rawPayload };
}

const importBackup = (archive: Buffer, headers: Record<string, string> = {}) =>
  core.app.inject({
    method: 'POST',
    url: '/v2/backups/import',
    payload: archive,
    headers: { 'content-type': 'application/gzip', ...headers },
  });

const upload = async (name: string, bytes: Buffer) =>
  (
    await core.app.inject({
      method: 'POST',
      url: `/v2/upload?filename=${name}`,
      payload: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    })
  ).json<{ file: UploadedFile }>().file;

/** The files of an archive by name, unpacked by another program. */
function unpack(archive: Buffer): Map<string, Buffer> {
  const folder = temporaryFolder();
  execFileSync('tar', ['-xzf', '-', '-C', folder.path], { input: archive });
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const found = files.map((entry): [string, Buffer] => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder.path, file), readFileSync(file)];
  });
  folder.remove();
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Every row of every table. */
function rowsOf(bytes: Buffer): Record<string, unknown[]> {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder.path, 'copy.db'), bytes);
  const db = new DatabaseSync(path.join(folder.path, 'copy.db'));
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
  const rows = Object.fromEntries(
    tables.map(({ name }) => [
      String(name),
      db
        .prepare(`SELECT * FROM "${String(name)}"`)
        .all()
        .map((row) => ({ ...row })),
    ]),
  );
  db.close();
  folder.remove();
  return rows;
}

function fill(folder: string): void {
  mkdirSync(path.join(folder, 'instances', 'compat'), { recursive: true });
  writeFileSync(
    path.join(folder, 'instances', 'compat', 'keys.json'),
    '{"keys":[{"key":"sk-svc-canary-0123456789","identity":"owner"}]}',
  );
  writeFileSync(path.join(folder, 'instances', 'compat', 'clients.json'), '{"client_secret":"canary-0123456789-b"}');
  writeFileSync(path.join(folder, 'instances', 'compat', 'offset.json'), '{"seen":12}');
  writeFileSync(path.join(folder, 'secrets.json'), '{"OPENAI_API_KEY":"canary-0123456789-c"}', { mode: 0o600 });
  writeFileSync(path.join(folder, 'pricing.json'), '{}');
  for (const name of ['manager', 'collector']) {
    const db = new DatabaseSync(path.join(folder, `${name}.db`));
    db.exec(`PRAGMA journal_mode=WAL; CREATE TABLE schema_migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL);
      INSERT INTO schema_migration VALUES ('001-init.sql', 1); CREATE TABLE thing (x); INSERT INTO thing VALUES ('${name}')`);
    db.close();
  }
}

describe('a backup', () => {
  test('holds the databases, the configuration and the uploads, each with its digest, and no staging', async () => {
    await open({ before: fill });
    await core.handle(envelope('remember the tulips'));
    const bytes = randomBytes(300_000);
    const file = await upload('tulip.bin', bytes);
    await ask('POST', '/v2/upload/init', { filename: 'half', mime: 'text/plain', size: 5 });
    const { archive } = await makeBackup();
    const files = unpack(archive);
    const uploaded = path.relative(core.folder, file.path);
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

describe('the operator’s own parts', () => {
  const code = 'connectors/shop/src/index.ts';
  const put = (name: string, content: string | Buffer = 'x') => {
    mkdirSync(path.dirname(inData(name)), { recursive: true });
    writeFileSync(inData(name), content);
  };

  test('are in a backup: rules of moderation and the code of connectors, without packages, links and keys', async () => {
    await open();
    put('moderation.deny.txt', 'launch codes');
    put(code, 'export const meta = {};');
    put('connectors/shop/session-token.ts');
    const left = ['shop/.env', 'shop/.git/config', 'shop/node_modules/a/index.js', 'shop/client.pem', '.npm/a.js', 'loose.js'];
    for (const name of [...left, 'node_modules/a.js']) put(`connectors/${name}`);
    symlinkSync(core.folder, inData('connectors', 'linked'));
    symlinkSync(inData('core.db'), inData('connectors', 'shop', 'database'));
    const files = unpack((await makeBackup()).archive);
    expect([...files.keys()].filter((name) => !/\.(?:db|json)$/.test(name))).toEqual([
      'connectors/shop/session-token.ts',
      code,
      'moderation.deny.txt',
    ]);
    expect(files.get('moderation.deny.txt')?.toString()).toBe('launch codes');
  });

  test('are not followed when they are links themselves', async () => {
    await open();
    const outside = temporaryFolder();
    mkdirSync(path.join(outside.path, 'shop'));
    writeFileSync(path.join(outside.path, 'shop', 'index.ts'), 'x');
    rmSync(inData('connectors'), { recursive: true, force: true });
    symlinkSync(outside.path, inData('connectors'));
    symlinkSync(path.join(outside.path, 'shop', 'index.ts'), inData('moderation.deny.txt'));
    expect([...unpack((await makeBackup()).archive).keys()]).toEqual(['backup.json', 'core.db']);
    outside.remove();
  });

  test.each<[string, () => void]>([
    ['has too many files', () => Array.from({ length: 2001 }, (_, index) => put(`connectors/big/${index}`))],
    ['is too large', () => put('connectors/big/a', Buffer.alloc(32 * 1024 * 1024 + 1))],
    ['has names that differ in their letters only', () => [put('connectors/big/a'), put('connectors/big/A')]],
  ])('leave out a connector that %s, and say so in the log', async (_, fillBig) => {
    const warn = vi.fn();
    await open();
    core.context.log.warn = warn;
    fillBig();
    put(code);
    const names = [...unpack((await makeBackup()).archive).keys()];
    expect(names.filter((name) => name.startsWith('connectors/'))).toEqual([code]);
    expect(warn.mock.calls).toEqual([[{ connector: 'big', backup: expect.any(String) }, expect.any(String)]]);
  });

  test('come back with a restore, and what the backup has not stays', async () => {
    await open();
    put('moderation.deny.txt', 'launch codes');
    put(code, 'first');
    const { archive } = await makeBackup();
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

describe('the list of backups', () => {
  test('tells of each what it is, gives ranges of it, and forgets it when it is deleted', async () => {
    await open({ before: fill });
    const { id, archive } = await makeBackup();
    const [backup] = (await list()).backups;
    expect(backup).toEqual({
      id,
      state: 'done',
      created_at: expect.any(Number),
      finished_at: expect.any(Number),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      scheduled: false,
      has_secrets: false,
      bytes: archive.length,
      files: 5,
      sha256: createHash('sha256').update(archive).digest('hex'),
      error: null,
      progress: null,
    });
    const part = await core.app.inject({ url: `/v2/backups/${id}`, headers: { range: 'bytes=10-19' } });
    expect(part.statusCode).toBe(206);
    expect(part.rawPayload).toEqual(archive.subarray(10, 20));
    expect(part.headers['content-disposition']).toMatch(/^attachment; filename="?svc-backup-\d{8}T\d{4}\.tar\.gz"?$/);
    expect((await ask('DELETE', `/v2/backups/${id}`)).json()).toEqual({ ok: true });
    expect((await ask('GET', `/v2/backups/${id}`)).statusCode).toBe(404);
    expect(readdirSync(inData('backups'))).toEqual([]);
    for (const wrong of ['bak_nothere', '..%2f..%2fcore.db', `${id}.json`]) {
      expect((await ask('GET', `/v2/backups/${wrong}`)).statusCode, wrong).toBe(404);
      expect((await ask('DELETE', `/v2/backups/${wrong}`)).statusCode, wrong).toBe(404);
    }
  });

  test('has one that is being made, and no second one beside it', async () => {
    await open();
    const { id } = (await ask('POST', '/v2/backups')).json<{ id: string }>();
    expect((await ask('POST', '/v2/backups')).statusCode).toBe(409);
    expect((await ask('DELETE', `/v2/backups/${id}`)).statusCode).toBe(409);
    expect((await list()).backups[0]).toMatchObject({ state: 'running', progress: { total: expect.any(Number) } });
    await core.context.backups.settled();
  });

  test('says of one that a stop of the service cut off that it failed, and nothing is left of it', async () => {
    await open();
    core.context.backups.create();
    await core.context.backups.close();
    expect((await list()).backups[0]).toMatchObject({ state: 'failed', error: 'The service was stopped while it was made.' });
    expect(readdirSync(inData('backups')).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  test('says of one that a killed service left half made that it failed', async () => {
    await open();
    const { id } = await makeBackup();
    const note = JSON.parse(readFileSync(inData('backups', `${id}.json`), 'utf8')) as Backup;
    const left = note.id.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    writeFileSync(inData('backups', `${left}.json`), JSON.stringify({ ...note, id: left, state: 'running' }));
    writeFileSync(inData('backups', `${left}.tar.gz.part`), 'half');
    const again = new Backups({ ...core.context, version: '0.1.0', holdFiles: () => () => undefined });
    again.recover();
    expect(again.read(left)).toMatchObject({ state: 'failed', error: 'The service ended while it was made.' });
    expect(existsSync(inData('backups', `${left}.tar.gz.part`))).toBe(false);
  });
});

describe('scheduled backups', () => {
  test('are made when they are due, and the oldest of them go', async () => {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    await open({ clock, env: { SVC_BACKUP_EVERY_HOURS: '24', SVC_BACKUP_KEEP: '2' } });
    const { backups } = core.context;
    const byHand = backups.create();
    await backups.settled();
    const ids: string[] = [];
    for (let day = 0; day < 4; day++) {
      expect(backups.isDue()).toBe(true);
      ids.push(backups.create({ scheduled: true }).id);
      expect(backups.isDue()).toBe(false);
      await backups.settled();
      expect(backups.isDue()).toBe(false);
      now += 24 * 3_600_000;
    }
    const left = backups.list().map(({ id }) => id);
    expect(new Set(left)).toEqual(new Set([...ids.slice(2), byHand.id]));
    expect(backups.notices()).toEqual([]);
  });

  test('that fail are told of, and tried again an hour later', async () => {
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    await open({ clock, before: (folder) => writeFileSync(path.join(folder, 'manager.db'), 'no database at all') });
    const { backups } = core.context;
    backups.create({ scheduled: true });
    await backups.settled();
    expect(backups.notices()).toEqual([expect.stringContaining('The last scheduled backup failed: ')]);
    expect((await ask('GET', '/health')).json<{ notices: string[] }>().notices).toEqual(backups.notices());
    expect(backups.isDue()).toBe(false);
    now += 3_600_001;
    expect(backups.isDue()).toBe(true);
    expect(readdirSync(inData('backups')).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  test('are not made when the setting says so', async () => {
    await open({ env: { SVC_BACKUP_EVERY_HOURS: '0' } });
    expect(core.context.backups.isDue()).toBe(false);
  });
});

/** What a start does before the core: the folder of the core that ran, with what is pending put in place. */
async function restart(): Promise<void> {
  const { dataDir } = core.context.settings;
  const copy = temporaryFolder().path;
  await core.context.db.flush();
  await core.context.backups.close();
  await core.app.close();
  await core.context.close();
  cpSync(dataDir, copy, { recursive: true });
  applyRestore(copy);
  rmSync(dataDir, { recursive: true, force: true });
  core = await openTestCore({ dataDir: copy });
}

describe('a restore', () => {
  test('[S05] of a backup gives the same backup again', async () => {
    await open({ before: fill });
    await core.addPrincipal('anna', 'trusted');
    await core.handle(envelope('remember the tulips'));
    await upload('a tulip.bin', randomBytes(5000));
    const first = await makeBackup();
    await core.handle(envelope('and forget this'));
    await upload('b.bin', randomBytes(100));
    writeFileSync(inData('instances', 'compat', 'keys.json'), '{"keys":[{"key":"sk-svc-newer-0123456789"}]}');
    const answer = await importBackup(first.archive);
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json<{ restore: RestorePlan }>().restore).toMatchObject({ secrets: 'kept', files: 7 });
    expect((await list()).restore?.state).toBe('pending');
    await restart();
    expect((await list()).restore?.state).toBe('applied');
    expect((await ask('GET', '/health')).json<{ notices: string[] }>().notices).toContainEqual(
      expect.stringContaining('svc backup undo'),
    );
    expect(readFileSync(inData('instances', 'compat', 'keys.json'), 'utf8')).toContain('newer');
    expect(readFileSync(inData('secrets.json'), 'utf8')).toContain('canary');
    const second = await makeBackup();
    const [before, after] = [unpack(first.archive), unpack(second.archive)];
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, bytes] of before) {
      if (name === 'backup.json') continue;
      const now = after.get(name) ?? Buffer.of();
      if (name.endsWith('.db')) expect(rowsOf(now), name).toEqual(rowsOf(bytes));
      else expect(now, name).toEqual(bytes);
    }
  });

  test('of one that is here goes the same way, and is taken back before or after the start', async () => {
    await open({ before: fill });
    const { id } = await makeBackup();
    await core.handle(envelope('said later'));
    expect((await ask('DELETE', '/v2/backups/restore')).statusCode).toBe(404);
    expect((await ask('POST', `/v2/backups/${id}/restore`)).json()).toMatchObject({ ok: true, restore: { secrets: 'kept' } });
    expect((await ask('DELETE', '/v2/backups/restore')).json()).toEqual({ ok: true, undone: 'pending' });
    expect((await list()).restore).toBeNull();
    await ask('POST', `/v2/backups/${id}/restore`);
    await restart();
    expect(await core.context.sessions.list(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    expect((await ask('DELETE', '/v2/backups/restore')).json()).toEqual({ ok: true, undone: 'at_next_start' });
    await restart();
    expect(await core.context.sessions.list(Number.MAX_SAFE_INTEGER, 10)).toHaveLength(1);
    expect((await list()).restore).toBeNull();
  });

  test('brings secrets under their passphrase, and is refused under another one', async () => {
    await open({ before: fill });
    const passphrase = 'tulips in März';
    const header = (text: string) => ({ 'x-backup-passphrase': Buffer.from(text).toString('base64') });
    const { archive, id } = await makeBackup({ include_secrets: { passphrase } });
    expect((await list()).backups[0]?.has_secrets).toBe(true);
    writeFileSync(inData('secrets.json'), '{"OPENAI_API_KEY":"another-0123456789"}');
    const wrong = await importBackup(archive, header('tulips in May'));
    expect(wrong.statusCode).toBe(422);
    expect(wrong.json<{ message: string }>().message).toContain('passphrase');
    expect((await list()).restore).toBeNull();
    expect((await ask('POST', `/v2/backups/${id}/restore`, { passphrase: 'nope nope' })).statusCode).toBe(422);
    expect((await importBackup(archive, header(passphrase))).json()).toMatchObject({ restore: { secrets: 'restored' } });
    await restart();
    expect(readFileSync(inData('secrets.json'), 'utf8')).toContain('canary-0123456789-c');
    expect(readFileSync(inData('instances', 'compat', 'keys.json'), 'utf8')).toContain('canary');
    expect(readFileSync(inData('instances', 'compat', 'clients.json'), 'utf8')).toContain('canary');
  });
});

test('a core whose database is damaged still takes a backup, and makes none', async () => {
  await open({ before: fill });
  const { archive, id } = await makeBackup();
  const { settings } = core.context;
  const port = await freePort();
  const version = readVersion(repositoryRoot, 'core', 'stable');
  const service = { settings: { ...settings, corePort: port }, log: createLog('core', 'silent'), version };
  const closed = await startClosedCore(service, 'It is damaged.');
  const at = `${closed.url}/v2/backups`;
  try {
    expect((await fetch(at, { method: 'POST' })).status).toBe(503);
    expect((await fetch(`${closed.url}/v2/sessions`)).status).toBe(503);
    expect((await fetch(`${at}/${id}/restore`, { method: 'POST' })).status).toBe(200);
    expect((await fetch(`${at}/import`, { method: 'POST', body: new Uint8Array(archive) })).status).toBe(200);
    expect(await (await fetch(at)).json()).toMatchObject({ backups: [{ id, state: 'done' }], restore: { state: 'pending' } });
    expect(await (await fetch(`${at}/restore`, { method: 'DELETE' })).json()).toEqual({ ok: true, undone: 'pending' });
  } finally {
    await closed.stop();
  }
});

test('a core that is started alone on a half restored folder refuses to begin', async () => {
  await open();
  mkdirSync(inData('restore'));
  writeFileSync(inData('restore', 'journal.json'), '{}');
  const version = readVersion(repositoryRoot, 'core', 'stable');
  const service = { settings: core.context.settings, log: createLog('core', 'silent'), version };
  await expect(startCore(service)).rejects.toThrow('A restore in');
});

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Everything in the data folder by name, but for what keeps changing by itself. */
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

describe('[S02] an archive that is made to do harm is refused, and nothing changes', () => {
  const upload = (name: string, over: Partial<TarEntry> = {}): TarEntry => ({ name, content: Buffer.from('x'), ...over });
  let real: TarEntry[] = [];
  const withReal = (...entries: TarEntry[]) => tarGz([...real, ...entries, contentsFor([...real, ...entries])]);

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
    ['a file that nothing tells of', () => tarGz([...real, upload('uploads/a'), contentsFor(real)])],
    ['a file that is not there', () => tarGz([...real, contentsFor([...real, upload('uploads/a')])])],
    [
      'another content than was promised',
      () => tarGz([...real, upload('uploads/a', { content: Buffer.from('y') }), contentsFor([...real, upload('uploads/a')])]),
    ],
    ['no core database', () => tarGz([contentsFor([])])],
    ['a database that is none', () => withReplaced(Buffer.from('SQLite format 3\0 but nothing behind it'))],
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
    ['a bomb', () => withReal(upload('uploads/a', { content: Buffer.alloc(200 * 1024 * 1024) }))],
    ['a bomb of nothing', () => gzipSync(Buffer.alloc(200 * 1024 * 1024))],
    ['nothing', () => gzipSync(Buffer.of())],
  ];

  const withReplaced = (content: Buffer) => {
    const entries = [{ name: 'core.db', content }];
    return tarGz([...entries, contentsFor(entries)]);
  };

  test.each(hostile)('%s', async (_name, make) => {
    await open({ before: fill });
    await core.handle(envelope('hello'));
    const { archive } = await makeBackup();
    real = [{ name: 'core.db', content: unpack(archive).get('core.db') ?? Buffer.of() }];
    await core.context.db.flush();
    await vi.waitFor(() => expect(core.context.db.raw.isTransaction).toBe(false));
    const before = stateOf(core.folder);
    const answer = await importBackup(make());
    expect(answer.statusCode, answer.body).toBe(422);
    expect(stateOf(core.folder)).toEqual(before);
    expect((await list()).restore).toBeNull();
    expect(existsSync('/tmp/svc-evil')).toBe(false);
  });

  test.each(['7', 'S', 'Z', '\0'])(
    'while a type %j that is none of these is a plain file, as the format has it',
    async (type) => {
      await open({ before: fill });
      const { archive } = await makeBackup();
      real = [{ name: 'core.db', content: unpack(archive).get('core.db') ?? Buffer.of() }];
      expect((await importBackup(withReal(upload('uploads/2026-01-01/a', { type })))).statusCode).toBe(200);
    },
  );

  test('while the plain one is taken', async () => {
    await open({ before: fill });
    const { archive } = await makeBackup();
    real = [{ name: 'core.db', content: unpack(archive).get('core.db') ?? Buffer.of() }];
    expect((await importBackup(withReal(upload('uploads/2026-01-01/a')))).statusCode).toBe(200);
  });

  test('with a million entries ends early', async () => {
    await open();
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

/** A byte of the first header is another one. */
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

describe('what may come in and go out', () => {
  test('[S04] a body over the limit is refused by the name of the setting, declared or not', async () => {
    await open({ env: { SVC_RAW_BODY_LIMIT: '10kb' } });
    const big = randomBytes(20_000);
    const declared = await importBackup(big);
    expect([declared.statusCode, declared.json()]).toEqual([
      413,
      expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT', limit: 10_240 }),
    ]);
    const url = await core.app.listen({ host: '127.0.0.1', port: 0 });
    const stream = (bytes: Buffer) =>
      fetch(`${url}/v2/backups/import`, {
        method: 'POST',
        body: ReadableStream.from([bytes.subarray(0, 5000), bytes.subarray(5000)]),
        duplex: 'half',
        headers: { 'content-type': 'application/gzip' },
      } as RequestInit);
    const streamed = await stream(gzipSync(big));
    expect([streamed.status, await streamed.json()]).toEqual([413, expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT' })]);
    // Also one that is refused long before its end is told why.
    const wrong = await stream(randomBytes(10_000));
    expect([wrong.status, await wrong.json()]).toEqual([422, expect.objectContaining({ error: 'unprocessable' })]);
    expect(readdirSync(inData('restore'))).toEqual([]);
  });

  test('[V10] a backup has no secret of the installation in the clear, with or without a passphrase', async () => {
    await open({ before: fill });
    for (const body of [undefined, { include_secrets: { passphrase: 'a long passphrase' } }]) {
      const { archive } = await makeBackup(body);
      const raw = gunzipSync(archive);
      for (const canary of [
        'canary-0123456789',
        'sk-svc-',
        'a long passphrase',
        Buffer.from('canary-0123456789-c').toString('base64').slice(0, 20),
      ]) {
        expect(raw.includes(canary), canary).toBe(false);
      }
      expect(unpack(archive).has('secrets.enc')).toBe(body !== undefined);
    }
    for (const name of readdirSync(inData('backups'))) {
      expect(readFileSync(inData('backups', name)).includes('a long passphrase'), name).toBe(false);
    }
  });

  test('[H04] a page of somebody else can do nothing with backups', async () => {
    await open();
    const headers = { origin: 'https://evil.example', 'content-type': 'application/gzip' };
    for (const url of ['/v2/backups/import', '/v2/backups']) {
      expect((await core.app.inject({ method: 'POST', url, payload: 'x', headers })).statusCode, url).toBe(403);
    }
    expect((await core.app.inject({ method: 'DELETE', url: '/v2/backups/restore', headers })).statusCode).toBe(403);
    expect(existsSync(inData('restore'))).toBe(false);
  });
});
