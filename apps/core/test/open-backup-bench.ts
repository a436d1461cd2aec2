import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, type afterAll } from 'vitest';
import type { Backup, RestoreState } from '@svc/contract/backup.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { applyRestore } from '@svc/service-kit/restore/apply-restore.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

/** What one does with backups over HTTP. Each test opens its core; with `afterAll` those of a group share the one that `beforeAll` opened. */
export function openBackupBench(closeAfter: typeof afterEach | typeof afterAll = afterEach) {
  let core: TestCore;
  closeAfter(() => core.close());

  const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => core.app.inject({ method, url, payload });
  const list = async () => (await ask('GET', '/v2/backups')).json<{ backups: Backup[]; restore: RestoreState | null }>();
  const postBytes = (url: string, payload: Buffer, headers: Record<string, string>) =>
    core.app.inject({ method: 'POST', url, payload, headers });

  return {
    get core() {
      return core;
    },
    async open(options: Parameters<typeof openTestCore>[0] = {}): Promise<void> {
      core = await openTestCore(options);
    },
    inData: (...parts: string[]) => path.join(core.folder, ...parts),
    ask,
    list,
    async makeBackup(body?: object): Promise<{ id: string; archive: Buffer }> {
      const answer = await ask('POST', '/v2/backups', body);
      expect(answer.statusCode, answer.body).toBe(202);
      const { id } = answer.json<{ id: string }>();
      await core.context.backups.settled();
      expect((await list()).backups.find((backup) => backup.id === id)).toMatchObject({ state: 'done', error: null });
      const download = await ask('GET', `/v2/backups/${id}`);
      expect(download.statusCode).toBe(200);
      return { id, archive: download.rawPayload };
    },
    importBackup: (archive: Buffer, headers: Record<string, string> = {}) =>
      postBytes('/v2/backups/import', archive, { 'content-type': 'application/gzip', ...headers }),
    async upload(name: string, bytes: Buffer): Promise<UploadedFile> {
      const answer = await postBytes(`/v2/upload?filename=${name}`, bytes, { 'content-type': 'application/octet-stream' });
      return answer.json<{ file: UploadedFile }>().file;
    },
    /** What a start does before the core: the folder of the core that ran, with what is pending put in place. */
    async restart(): Promise<void> {
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
    },
  };
}

/** The files of an archive by name, unpacked by another program. */
export function unpack(archive: Buffer): Map<string, Buffer> {
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
export function rowsOf(bytes: Buffer): Record<string, unknown[]> {
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

/** A data folder as a service in use has it: databases of others, settings, and secrets that no backup may show. */
export function fill(folder: string): void {
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
