import { execFile, spawn } from 'node:child_process';
import { copyFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor } from '@svc/testing/house.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestCore } from '../../apps/core/test/open-test-core.ts';

const used = temporaryFolder();
let backup = '';
let env: Record<string, string> = {};

/** A data folder in which the service has run, with a backup, and a core that was killed in the end. */
beforeAll(async () => {
  const ports = await freePorts(4);
  const house = await openHouse({ dataDir: used.path });
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: used.path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    SVC_DEFAULT_ENGINE: 'offline',
    SVC_CORE_PORT: String(ports[0]),
    SVC_MANAGER_PORT: String(ports[1]),
    SVC_COLLECTOR_PORT: String(ports[2]),
    SVC_VAULT_PORT: String(ports[3]),
  };
  ({ id: backup } = (await house.post<{ id: string }>(`${house.urls.core}/v2/backups`, {})).body);
  const isMade = async () =>
    (await house.get<{ backups: { state: string }[] }>(`${house.urls.core}/v2/backups`)).backups[0]?.state === 'done';
  await waitFor(isMade, 20_000, () => 'no backup was made');
  for (let turn = 0; turn < 5; turn++) {
    const body = {
      channel: 'compat',
      conversation_key: `compat:c1:${turn}`,
      sender: { raw_id: 'owner' },
      content: { text: 'echo hi' },
    };
    await house.post(`${house.urls.core}/v2/handle`, body);
  }
  for (const end of ['', '-wal']) copyFileSync(path.join(used.path, `core.db${end}`), path.join(used.path, `killed${end}`));
  await house.stop();
});
afterAll(() => used.remove());

/** A copy of that data folder, which a test may damage. */
function brokenFolder(break_: (dir: string) => void): string {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  cpSync(used.path, folder.path, { recursive: true });
  break_(folder.path);
  return folder.path;
}

type Finding = { name: string; state: string; text: string; fix: string | null };

async function examine(dir: string): Promise<Finding[]> {
  const args = [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'doctor', '--json'];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env: { ...env, SVC_DATA_DIR: dir } }, (_error, stdout) => resolve(stdout));
  });
  const { findings } = JSON.parse(output) as { findings: Finding[] };
  return findings.filter(({ name, state }) => name === 'database' && state === 'problem');
}

describe('svc doctor', () => {
  test('reports no damage after an ordinary stop', async () => {
    expect(await examine(brokenFolder(() => undefined))).toEqual([]);
  });

  test('names each database with altered bytes and no other, and the backup to go back to', async () => {
    const damages = { 'core.db': 'header', 'manager.db': 'instance', 'collector.db': 'event' };
    const dir = brokenFolder((folder) => {
      for (const [name, what] of Object.entries(damages)) damageDatabase(path.join(folder, name), what);
    });
    const found = await examine(dir);
    expect(found).toEqual(
      Object.keys(damages).map((name) =>
        expect.objectContaining({
          text: expect.stringContaining(`${path.join(dir, name)} is damaged: `) as string,
          fix: expect.stringContaining(`./svc backup restore ${backup}`) as string,
        }),
      ),
    );
  });

  test('reports a damaged write-ahead log, which the core sets aside when it starts and reports as degraded', async () => {
    const dir = brokenFolder((folder) => {
      for (const end of ['', '-wal']) copyFileSync(path.join(folder, `killed${end}`), path.join(folder, `core.db${end}`));
      damageBytes(path.join(folder, 'core.db-wal'), 9000);
    });
    expect((await examine(dir))[0]?.text).toContain('core.db-wal is damaged');
    const core = start('core', dir);
    await core.says('core is ready');
    const health = (await (await fetch(`http://127.0.0.1:${env['SVC_CORE_PORT']}/health`)).json()) as { degraded: string[] };
    expect(health.degraded.join()).toContain('core.db-wal.damaged-');
    await core.stop();
    expect(readdirSync(dir).some((name) => name.startsWith('core.db-wal.damaged-'))).toBe(true);
    const [found] = await examine(dir);
    expect(found?.text).toContain('core.db-wal.damaged-');
    expect(found?.fix).toContain(`./svc backup restore ${backup}`);
  });

  test('reports a database that is damaged while its process runs', async () => {
    const dir = brokenFolder(() => undefined);
    const core = start('core', dir);
    await core.says('core is ready');
    damageDatabase(path.join(dir, 'core.db'), 'turn');
    expect((await examine(dir))[0]?.text).toContain('core.db is damaged');
    await core.stop();
  });
});

describe('a process whose database is damaged', () => {
  test.each([
    ['manager', 'manager.db', 'instance'],
    ['collector', 'collector.db', 'header'],
  ])('(%s) exits with an error that names the file and the backup to restore', async (service, name, what) => {
    const dir = brokenFolder((folder) => damageDatabase(path.join(folder, name), what));
    const started = start(service, dir);
    expect(await started.exited).toBe(1);
    expect(started.output()).toContain(`${path.join(dir, name)} is damaged`);
    expect(started.output()).toContain(`./svc backup restore ${backup}`);
  });

  const message = {
    channel: 'compat',
    conversation_key: 'compat:c1:x',
    sender: { raw_id: 'owner' },
    content: { text: 'echo hi' },
  };
  const expectDegraded = (degraded: string[], dir: string) => {
    expect(degraded.join()).toContain(`${path.join(dir, 'core.db')} is damaged`);
    expect(degraded.join()).toContain(`./svc backup restore ${backup}`);
  };

  test.each(['header', 'turn'])('(the core, %s) does not answer, and /health names the file and the backup', async (what) => {
    const dir = brokenFolder((folder) => damageDatabase(path.join(folder, 'core.db'), what));
    const core = start('core', dir);
    await core.says('core is ready');
    const url = `http://127.0.0.1:${env['SVC_CORE_PORT']}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v2/handle`, { method: 'POST', headers, body: JSON.stringify(message) });
    expect(await answer.text()).not.toContain('"text":"hi"');
    expectDegraded(((await (await fetch(`${url}/health`)).json()) as { degraded: string[] }).degraded, dir);
    await core.stop();
  });

  test.each(['principal', 'identifier'])('(the core, %s) denies access, and /health names the file and backup', async (what) => {
    const dir = brokenFolder((folder) => damageDatabase(path.join(folder, 'core.db'), what));
    const core = await openTestCore({ dataDir: dir });
    onTestFinished(() => core.close());
    const answer = await core.app.inject({ method: 'POST', url: '/v2/handle', payload: message });
    expect(answer.statusCode).not.toBe(200);
    expect(core.engine.requests).toEqual([]);
    const health = await core.app.inject({ method: 'GET', url: '/health' });
    expectDegraded(health.json<{ degraded: string[] }>().degraded, dir);
  });

  test('(the vault) exits with an error that names the file', async () => {
    const dir = brokenFolder(() => undefined);
    const first = start('vault', dir);
    await first.says('vault is ready');
    await first.stop();
    damageDatabase(path.join(dir, 'vault', 'vault.db'), 'header');
    const vault = start('vault', dir);
    expect(await vault.exited).toBe(1);
    expect(vault.output()).toContain('vault.db is damaged');
    expect((await examine(dir))[0]?.text).toContain('vault.db is damaged');
  });
});

function start(service: string, dir: string) {
  const child = spawn(process.execPath, [path.join(repositoryRoot, `apps/${service}/src/main.ts`)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, SVC_DATA_DIR: dir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    exited,
    output: () => output,
    says: (text: string) =>
      waitFor(
        () => output.includes(text),
        20_000,
        () => `${service} does not say it:\n${output}`,
        exited,
      ),
    stop: () => (child.kill('SIGTERM'), exited),
  };
}

/** Alters bytes in the middle of a database file, as a broken disk does: the first page of a table or an index, or the file's header. */
function damageDatabase(file: string, what: string): void {
  const at = what === 'header' ? 0 : placeOf(file, what);
  // The first page begins with the header of the file, any other with that of the page.
  damageBytes(file, at === 0 ? 100 : at);
}

function damageBytes(file: string, at: number): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, at, at + 8));
}

function placeOf(file: string, name: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size']);
    const root = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)?.['rootpage']);
    return (root - 1) * pageBytes;
  } finally {
    db.close();
  }
}
