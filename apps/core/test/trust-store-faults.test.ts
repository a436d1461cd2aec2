import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { freePort, freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { startCore as startCoreHere } from '../src/start-core.ts';
import { envelope, openTestCore } from './open-test-core.ts';
import { dataDir, startCoreProcess as start } from './start-core-process.ts';

/** A core that listens, in its own process or in this one. */
type Core = { url: string; ready(): Promise<void> };
const file = (dir: string, name = 'core.db') => path.join(dir, name);
const get = async <T>(core: Core, route: string) => (await requestJson<T>(`${core.url}${route}`, { timeoutMs: 40_000 })).body;
const post = <T>(core: Core, route: string, body: unknown, headers = {}) =>
  requestJson<T>(`${core.url}${route}`, { body, headers, timeoutMs: 40_000 });

const used = temporaryFolder();
afterAll(() => used.remove());

beforeAll(async () => {
  const [core, manager, collector] = (await freePorts(3)) as [number, number, number];
  const { child, exited } = await startCore(used.path, { core, manager, collector });
  const { body } = await requestJson(`http://127.0.0.1:${core}/v2/handle`, { body: envelope('echo hi'), timeoutMs: 40_000 });
  expect(body).toMatchObject({ outcome: 'replied' });
  child.kill('SIGTERM');
  await exited;
});

/** A data folder in which a core has run and admitted its owner. */
function usedFolder(): string {
  const dir = dataDir();
  cpSync(used.path, dir, { recursive: true });
  return dir;
}

/** Checks that everyone is denied, and that `/health` names the reason. */
async function expectClosed(core: Core, why: string): Promise<void> {
  await core.ready();
  expect((await post(core, '/v2/handle', envelope('echo hi'))).body).toMatchObject({
    outcome: 'denied',
    actions: [{ text: 'no access' }],
  });
  expect((await post(core, '/v2/handle', envelope('echo hi', { public: true }))).body).toMatchObject({ actions: [] });
  expect((await post(core, '/query', { message: 'echo hi', userId: 'owner', platform: 'compat' })).status).toBeGreaterThanOrEqual(
    400,
  );
  expect((await post(core, '/trust/resolve', { channel: 'compat', sender: { raw_id: 'owner' } })).body).toMatchObject({
    denied: true,
    denial: 'gate_closed',
    tool_policy: 'none',
  });
  const health = await get<{ status: string; degraded: string[] }>(core, '/health');
  expect(health.status).toBe('degraded');
  expect(health.degraded.join()).toContain(why);
}

/** The same for a database that the core cannot use, which it must leave unchanged. */
async function expectClosedFor(core: Core, dir: string): Promise<void> {
  const before = readFileSync(file(dir));
  await expectClosed(core, `${file(dir)} cannot be used`);
  const announced = await post<{ error: string }>(core, '/v2/announce', { text: 'hi' });
  expect([announced.status, announced.body.error]).toEqual([503, 'unavailable']);
  expect(await fetchText(core, envelope('echo hi'))).toMatch(/^event: result\ndata: .*"denied"/);
  expect(readFileSync(file(dir)).equals(before)).toBe(true);
}

/** What its main file does, in this process. */
async function startHere(dir: string): Promise<Core & { stop(): Promise<unknown> }> {
  const settings = loadSettings(repositoryRoot, {
    SVC_DATA_DIR: dir,
    SVC_CORE_PORT: String(await freePort()),
    SVC_DEFAULT_ENGINE: 'offline',
  });
  const version = readVersion(repositoryRoot, 'core', () => 'stable');
  const core = await startCoreHere({ settings, log: createLog('core', 'silent'), version });
  let stopped: Promise<unknown> | null = null;
  const stop = () => (stopped ??= core.stop());
  onTestFinished(async () => void (await stop()));
  return { url: core.url, ready: () => Promise.resolve(), stop };
}

describe('[T01] a trust store', () => {
  const why = (dir: string) => `the trust store ${file(dir)} is empty, though trust had been set up here`;

  test('that is missing after trust was set up denies everyone, also after a kill and a restart', async () => {
    const dir = usedFolder();
    rmSync(file(dir));
    const core = await start(dir);
    await expectClosed(core, why(dir));
    core.child.kill('SIGKILL');
    await core.exited;
    await expectClosed(await start(dir), 'remove ');
  });

  test('that is empty after trust was set up denies everyone, also after a restart', async () => {
    const dir = usedFolder();
    truncateSync(file(dir), 0);
    const core = await startHere(dir);
    await expectClosed(core, why(dir));
    await core.stop();
    await expectClosed(await startHere(dir), 'remove ');
  });

  test('that is missing is created again once the operator has removed its marker file', async () => {
    const dir = usedFolder();
    rmSync(file(dir));
    rmSync(file(dir, 'trust.set-up'));
    expect((await post(await startHere(dir), '/v2/handle', envelope('echo hi'))).body).toMatchObject({ outcome: 'replied' });
  });

  test('that is no database denies everyone and is reported, and the core still stops cleanly', async () => {
    const dir = usedFolder();
    writeFileSync(file(dir), 'this is no database, whatever its name is');
    const core = await start(dir);
    await expectClosedFor(core, dir);
    core.child.kill('SIGTERM');
    expect(await core.exited).toBe(0);
  });

  test.each([
    ['cut off', (dir: string) => truncateSync(file(dir), 5000)],
    [
      'overwritten in the middle',
      (dir: string) => {
        const bytes = readFileSync(file(dir));
        writeFileSync(file(dir), bytes.fill(0xa5, 100, bytes.length));
      },
    ],
    [
      'of another schema',
      (dir: string) => {
        const db = new DatabaseSync(file(dir));
        db.exec("DELETE FROM schema_migration WHERE name LIKE '001%'");
        db.close();
      },
    ],
  ])('that is %s denies everyone and is reported', async (_what, break_) => {
    const dir = usedFolder();
    break_(dir);
    await expectClosedFor(await startHere(dir), dir);
  });

  test('locked by another process makes the core exit with the reason', async () => {
    const dir = usedFolder();
    const lock = new DatabaseSync(file(dir));
    lock.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
    try {
      const core = await start(dir);
      expect(await core.exited).toBe(1);
      expect(core.output()).toContain(`Another core is using ${dir}`);
    } finally {
      lock.close();
    }
  });

  test.each([
    ['no JSON', '{"principals": ['],
    ['zero bytes', ''],
    ['of another form', '{"people": []}'],
    ['null', 'null'],
    ['a principal without a key', '{"principals":[{"role":"known","identifiers":[]}]}'],
    ['a role that is not there', '{"principals":[{"key":"a","role":"emperor","identifiers":[]}]}'],
    ['an empty identifier', '{"principals":[{"key":"a","role":"known","identifiers":[{"surface":"compat","value":""}]}]}'],
    [
      'one sender for two principals',
      JSON.stringify({
        principals: ['a', 'b'].map((key) => ({
          key,
          role: 'known',
          identifiers: [{ surface: 'email', value: `${key === 'a' ? 'X' : 'x'}@y.z` }],
        })),
      }),
    ],
  ])('with an invalid seed file (%s) denies everyone', async (_what, seed) => {
    const core = await openTestCore({ before: (dir) => writeFileSync(file(dir, 'trust.seed.json'), seed) });
    onTestFinished(() => core.close());
    const url = await core.app.listen({ host: '127.0.0.1', port: 0 });
    await expectClosed({ url, ready: () => Promise.resolve() }, 'trust could not be set up, so everybody is denied');
  });
});

async function fetchText(core: Core, body: unknown): Promise<string> {
  const response = await fetch(`${core.url}/v2/handle`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}
