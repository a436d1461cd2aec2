import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { freePort } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fixtures } from './open-manager.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { postedBy, eventually, isOpen } from './waiting.ts';

let folder: TemporaryFolder;
let port = 0;
const started: ChildProcess[] = [];
/** What each of them printed. */
const outputs = new Map<ChildProcess, () => string>();
beforeEach(async () => {
  folder = temporaryFolder();
  port = await freePort();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => end(child, 'SIGTERM')));
  folder.remove();
});

/** Starts a manager process and waits until it is ready; gives what it printed when it ends instead. */
async function start(entry = path.join(fixtures, 'main.ts'), more: Record<string, string> = {}): Promise<ChildProcess> {
  const env = {
    ...process.env,
    SVC_DATA_DIR: folder.path,
    SVC_MANAGER_PORT: String(port),
    SVC_STOP_TIMEOUT_MS: '5000',
    SVC_COMPAT_PORT: '0',
    ...more,
  };
  const child = fork(entry, { env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  started.push(child);
  let output = '';
  outputs.set(child, () => output);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error(output)))]);
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

const call = async <T>(method: string, url: string, body?: object) =>
  (await requestJson<T>(`http://127.0.0.1:${port}${url}`, { method, body, timeoutMs: 8000 })).body;
const list = async () => (await call<{ instances: Instance[] }>('GET', '/instances')).instances;
const allRun = (instances: Instance[]) => instances.length > 0 && instances.every((instance) => instance.status === 'running');
const create = (config: object) =>
  call('POST', '/instances', { type: 'sample', name: 's', enabled: true, config: { room: 'r', ...config } });

describe('a manager process', () => {
  test('[M05] killed with -9 leaves no orphan, and the next one restarts the same instances', async () => {
    const first = await start();
    await create({});
    await create({ behaviour: 'mute' });
    await call('POST', '/instances', { type: 'sample', name: 'off', config: { room: 'r' } });
    const before = await list();
    const running = before.filter((instance) => instance.enabled);
    await end(first, 'SIGKILL');
    await eventually(
      () => running.filter(({ pid }) => isAlive(pid!)),
      (left) => left.length === 0,
    );
    expect(await isOpen(before[0]!.port!)).toBe(false);

    await start();
    const after = await eventually(list, (instances) => allRun(instances.filter((instance) => instance.enabled)));
    const stored = ({ id, type, name, enabled, config, created_at }: Instance) => ({
      id,
      type,
      name,
      enabled,
      config,
      created_at,
    });
    expect(after.map(stored)).toEqual(before.map(stored));
    expect(after[2]).toMatchObject({ id: 'sample-3', status: 'stopped' });
  });

  test('keeps the logs of its instances for the next one when it is killed', async () => {
    const first = await start(path.join(fixtures, 'kit-main.ts'));
    await call('POST', '/instances', { type: 'postbox', name: 'Box', enabled: true });
    const textsOf = async () =>
      (await call<{ logs: { text: string }[] }>('GET', '/instances/postbox/logs')).logs.map(({ text }) => text);
    const before = await eventually(textsOf, (texts) => texts.some((text) => text.includes('"ready"')));
    await call('POST', '/instances', { type: 'sample', name: 's', config: { room: 'r' } });
    await end(first, 'SIGKILL');
    await start(path.join(fixtures, 'kit-main.ts'));
    const after = await eventually(textsOf, (texts) => texts.filter((text) => text.includes('"ready"')).length === 2);
    expect(after.slice(0, before.length)).toEqual(before);
  });

  test('[M05] ends orphans of a killed predecessor before it starts the same instance again', async () => {
    const fixed = await freePort();
    const first = await start();
    await create({ behaviour: 'stray', port: fixed });
    const [before] = await list();
    await end(first, 'SIGKILL');
    expect(isAlive(before!.pid!)).toBe(true);
    await start();
    const [after] = await eventually(list, allRun);
    expect(isAlive(before!.pid!)).toBe(false);
    expect(after).toMatchObject({ port: fixed, restarts: 0 });
  });

  test('stops all its children in parallel and in time when it is stopped', async () => {
    const manager = await start();
    // One after the other they would take 24 s.
    await Promise.all([...Array.from({ length: 6 }, () => create({ behaviour: 'deaf' })), create({})]);
    const pids = (await list()).map(({ pid }) => pid!);
    const asked = Date.now();
    await end(manager, 'SIGTERM');
    expect(Date.now() - asked).toBeLessThan(10_000);
    expect(manager.exitCode).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('[M11] refuses a damaged database, says what to do, and leaves it unchanged', async () => {
    const file = path.join(folder.path, 'manager.db');
    writeFileSync(file, 'this was a database once'.repeat(1000), { mode: 0o600 });
    const before = readFileSync(file);
    await expect(start()).rejects.toThrow(/manager\.db is damaged .* \.\/svc backup restore FILE/);
    expect(readFileSync(file)).toEqual(before);
  });
});

describe('a manager process', () => {
  test.each(['', '   '])('[M02] refuses to start with a blank token (%j)', async (token) => {
    await expect(start(undefined, { SVC_MANAGER_TOKEN: token })).rejects.toThrow(/SVC_MANAGER_TOKEN is set but blank/);
    expect(started[0]?.exitCode).toBe(exitCodes.badSettings);
  });

  test('[M02] without a token warns and is open', async () => {
    const manager = await start();
    expect(await list()).toEqual([]);
    await end(manager, 'SIGTERM');
    expect(outputs.get(manager)?.()).toContain('SVC_MANAGER_TOKEN is not set');
  });

  test('[M11] keeps the complete old or new config when killed at any moment of a change', async () => {
    const kills = process.env['TEST_DEEP'] === '1' ? 60 : 4;
    await end(await withInstance(), 'SIGTERM');
    const seen = new Set<string>();
    for (let kill = 0; kill < kills; kill++) {
      const manager = await start();
      const config: Record<string, unknown> = (await list())[0]?.config ?? {};
      expect(String(config['room']).split('-')[1]).toBe(String(config['port']));
      seen.add(String(config['room']));
      const changed = Promise.withResolvers<unknown>();
      // Once not before something has changed: on a busy machine all kills could come too early.
      const killing = (kill === 0 ? changed.promise : Promise.resolve())
        .then(() => new Promise((resolve) => setTimeout(resolve, Math.random() * 150)))
        .then(() => end(manager, 'SIGKILL'));
      for (let i = 0; manager.exitCode === null && manager.signalCode === null; i++) {
        const port = 20_000 + ((kill * 1000 + i) % 40_000);
        changed.resolve(await call('PATCH', '/instances/sample', { config: { room: `r-${port}`, port } }).catch(() => null));
      }
      await killing;
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  async function withInstance(): Promise<ChildProcess> {
    const manager = await start();
    await call('POST', '/instances', { type: 'sample', name: 's', config: { room: 'r-1', port: 1 } });
    return manager;
  }
});

describe('a manager process with outbound connectors', () => {
  const kitMain = path.join(fixtures, 'kit-main.ts');
  const box = (name: string) => call('POST', '/instances', { type: 'postbox', name, enabled: true });
  const textsOf = (id: string) => postedBy(folder.path, id).map(({ text }) => text);

  test('[M05] [M12] restarts five instances after kill -9, and delivers each held announcement once', async () => {
    const first = await start(kitMain);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await box(name);
    const before = await eventually(list, (instances) => instances.every(({ heartbeat }) => heartbeat === 'fresh'));
    for (const { id } of before) await call('POST', '/announce', { instance_id: id, target: 'b1', text: `back: ${id}` });
    await end(first, 'SIGKILL');

    const startedAt = Date.now();
    const second = await start(kitMain);
    const after = await eventually(list, allRun);
    expect(Date.now() - startedAt).toBeLessThan(30_000);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(before.filter(({ pid }) => isAlive(pid!))).toEqual([]);
    for (const { id } of after)
      await eventually(
        () => textsOf(id),
        (texts) => texts.length > 0,
      );
    await end(second, 'SIGKILL');
    await start(kitMain);
    await eventually(list, (instances) => instances.every(({ heartbeat }) => heartbeat === 'fresh'));
    for (const { id } of after) expect(textsOf(id)).toEqual([`back: ${id}`]);
  });

  test('killed during a send has the message sent once when its sender repeats it', async () => {
    const first = await start(kitMain);
    await box('a');
    const message = { instance_id: 'postbox', target: 'slow', text: 'once' };
    const send = () =>
      requestJson<Record<string, unknown>>(`http://127.0.0.1:${port}/send`, {
        body: message,
        headers: { 'idempotency-key': 'dlv_1' },
        timeoutMs: 12_000,
      });
    const sending = send().catch((error: Error) => error);
    await eventually(
      () => existsSync(path.join(folder.path, 'instances/postbox/sending')),
      (isSending) => isSending,
    );
    // Asleep, it does not get the answer that the connector gives.
    first.kill('SIGSTOP');
    await eventually(
      () => readFileSync(path.join(folder.path, 'instances/postbox/sent-ids'), 'utf8'),
      (ids) => ids !== '',
    );
    await end(first, 'SIGKILL');
    expect(await sending).toBeInstanceOf(Error);
    await start(kitMain);
    await eventually(list, allRun);
    expect((await send()).body).toMatchObject({ delivered: true });
    expect(textsOf('postbox')).toEqual(['once']);
    expect((await send()).body).toMatchObject({ delivered: true });
    expect(textsOf('postbox')).toEqual(['once']);
  });
});

test('the first start makes a chat completions API with one key of the owner, which moves along with its data folder', async () => {
  const main = path.join(import.meta.dirname, '../src/main.ts');
  const keysFile = () => path.join(folder.path, 'instances/compat/keys.json');
  const first = await start(main);
  const [instance, ...others] = await list();
  expect(others).toEqual([]);
  expect(instance).toMatchObject({
    id: 'compat',
    type: 'compat',
    name: 'Chat completions API',
    enabled: true,
    config: { keys_file: keysFile(), require_key: true, bind_host: '127.0.0.1' },
  });
  const { keys } = JSON.parse(readFileSync(keysFile(), 'utf8')) as { keys: object[] };
  expect(keys).toMatchObject([{ key: expect.stringMatching(/^sk-svc-[\w-]{43}$/), identity: 'owner' }]);
  expect(statSync(keysFile()).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(keysFile())).mode & 0o777).toBe(0o700);

  await end(first, 'SIGTERM');
  const before = folder;
  folder = temporaryFolder();
  rmSync(folder.path, { recursive: true });
  renameSync(before.path, folder.path);
  await start(main);
  expect(await list()).toMatchObject([{ id: 'compat', config: { keys_file: keysFile() } }]);
});
