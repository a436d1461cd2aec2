import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openRealManager, type OpenManager } from './open-manager.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { eventually, isOpen } from './waiting.ts';

const opened: OpenManager[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(opened.splice(0).map((manager) => manager.close()));
});

async function open(env: Record<string, string> = {}): Promise<OpenManager> {
  const manager = await openRealManager(env);
  opened.push(manager);
  return manager;
}

async function create(manager: OpenManager, config: object, name = 'Sample'): Promise<Instance> {
  const { body } = await manager.call('POST', '/instances', {
    type: 'sample',
    name,
    enabled: true,
    config: { room: 'r', ...config },
  });
  return body['instance'] as Instance;
}

const read = async (manager: OpenManager, id: string) =>
  (await manager.call('GET', `/instances/${id}`)).body['instance'] as Instance;
const becomes = (manager: OpenManager, id: string, is: (instance: Instance) => boolean) =>
  eventually(() => read(manager, id), is);
const logsOf = async (manager: OpenManager, id: string) =>
  ((await manager.call('GET', `/instances/${id}/logs`)).body['logs'] as { text: string }[]).map((line) => line.text);

describe('a setting that was shown masked', () => {
  test('[R10] is refused as a new value, and the stored value is kept', async () => {
    const manager = await open();
    await create(manager, { room: 'lobby' });
    const masked = { config: { room: 'lobby [redacted:secret]' } };
    expect((await manager.call('PATCH', '/instances/sample', masked)).status).toBe(400);
    expect((await read(manager, 'sample')).config).toMatchObject({ room: 'lobby' });
    expect((await manager.call('POST', '/instances', { type: 'sample', name: 'Other', ...masked })).status).toBe(400);
  });
});

describe('a running instance', () => {
  test('is a process with a port, which can be stopped, started and deleted', async () => {
    const manager = await open();
    const created = await create(manager, {});
    expect(created).toMatchObject({
      status: 'running',
      healthy: true,
      url: `http://127.0.0.1:${created.port}`,
      restarts: 0,
      last_exit: null,
    });
    expect(created.started_at).toBeGreaterThan(0);
    expect(await isOpen(created.port!)).toBe(true);
    expect(await becomes(manager, 'sample', (instance) => instance.heartbeat === 'fresh')).toMatchObject({ healthy: true });

    const stopped = (await manager.call('POST', '/instances/sample/stop')).body['instance'];
    expect(stopped).toMatchObject({
      status: 'stopped',
      enabled: false,
      pid: null,
      port: null,
      url: null,
      first_steps: null,
      invite_link: null,
      healthy: false,
      heartbeat: 'unknown',
      started_at: null,
    });
    expect(isAlive(created.pid!)).toBe(false);
    expect(await isOpen(created.port!)).toBe(false);

    const started = (await manager.call('POST', '/instances/sample/start')).body['instance'] as Instance;
    expect(started.status).toBe('running');
    await manager.call('DELETE', '/instances/sample');
    expect(isAlive(started.pid!)).toBe(false);
    expect(existsSync(path.join(manager.dataDir, 'instances/sample'))).toBe(false);
  });

  test('is a new process with the new config and the old log after PATCH and restart', async () => {
    const manager = await open();
    const speak = (room: string) => ({ room, behaviour: 'speak' });
    const first = await create(manager, speak('one'), 'First');
    const change = { name: 'Second', config: speak('two') };
    const second = (await manager.call('PATCH', '/instances/sample', change)).body['instance'] as Instance;
    expect(second).toMatchObject({ status: 'running', name: 'Second' });
    expect(second.pid).not.toBe(first.pid);
    expect(isAlive(first.pid!)).toBe(false);
    const third = (await manager.call('POST', '/instances/sample/restart')).body['instance'] as Instance;
    expect(third.pid).not.toBe(second.pid);
    await eventually(
      () => manager.telemetry.events.filter((event) => event.kind === 'inbound').map((event) => event.text),
      (names) => names.join() === 'First,Second,Second',
    );
    await eventually(
      async () => (await logsOf(manager, 'sample')).filter((line) => line.startsWith('says')),
      (said) => said.join() === 'says one,says two,says two',
    );
  });

  test('sends telemetry that is attributed to it, and the manager reports each change of its status', async () => {
    const manager = await open();
    await create(manager, {}, 'Mine');
    const inbound = await eventually(
      () => manager.telemetry.events.find((event) => event.kind === 'inbound'),
      (event) => event !== undefined,
    );
    expect(inbound).toMatchObject({ text: 'Mine', instance_id: 'sample', surface: 'sample' });
    await manager.call('POST', '/instances/sample/stop');
    const changes = manager.telemetry.events.filter((event) => event.kind === 'instance').map((event) => event.payload['status']);
    expect(changes).toEqual(['starting', 'running', 'stopped']);
  });

  test('is restarted at once after kill -9', async () => {
    const manager = await open();
    const { pid } = await create(manager, {});
    signalProcess(pid, 'SIGKILL');
    const killedAt = Date.now();
    const back = await becomes(manager, 'sample', (instance) => instance.status === 'running' && instance.pid !== pid);
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect(back).toMatchObject({ restarts: 1, last_exit: { signal: 'SIGKILL' } });
  });

  test('[M04] has failed after repeated crashes at its start, without affecting others', async () => {
    const manager = await open();
    const other = await create(manager, {});
    const { id } = await create(manager, { behaviour: 'crash' });
    const failed = await becomes(manager, id, (instance) => instance.status === 'failed');
    expect(failed).toMatchObject({ enabled: true, restarts: 5, healthy: false, last_exit: { code: 1 } });
    expect(failed.last_exit?.reason).toContain('Error: bad luck');
    expect(await logsOf(manager, id)).toContain('Error: bad luck');
    expect(readFileSync(path.join(manager.dataDir, `logs/instance-${id}.log`), 'utf8')).toContain('Error: bad luck');
    expect(await read(manager, other.id)).toMatchObject({ pid: other.pid, restarts: 0, status: 'running' });
    const repaired = await manager.call('PATCH', `/instances/${id}`, { config: { room: 'r', behaviour: 'good' } });
    expect(repaired.body['instance']).toMatchObject({ status: 'running' });
  });

  test('[M07] that ignores SIGTERM is killed', async () => {
    const manager = await open({ SVC_STOP_TIMEOUT_MS: '400' });
    const { pid } = await create(manager, { behaviour: 'deaf' });
    expect((await manager.call('DELETE', '/instances/sample')).status).toBe(200);
    expect(isAlive(pid!)).toBe(false);
  });

  test('whose port is taken fails with the reason, without affecting others', async () => {
    const manager = await open();
    const { port } = await create(manager, {});
    const second = await create(manager, { port });
    await becomes(manager, second.id, (instance) => instance.last_exit !== null);
    expect((await read(manager, second.id)).last_exit?.reason).toContain('EADDRINUSE');
    expect(await read(manager, 'sample')).toMatchObject({ status: 'running', restarts: 0 });
  });
});

describe('a full disk', () => {
  test('stops neither the manager nor an instance', async () => {
    const manager = await open();
    // What is written there is renamed over it, which fails as a full disk does.
    mkdirSync(path.join(manager.dataDir, 'run/instances.json/x'), { recursive: true });
    const { pid, status } = await create(manager, {});
    expect(status).toBe('running');
    signalProcess(pid, 'SIGKILL');
    await becomes(manager, 'sample', (instance) => instance.status === 'running' && instance.pid !== pid);
  });
});

describe('a problem that a connector reports', () => {
  test('makes the instance unhealthy despite fresh heartbeats, is masked, and is cleared by a new process', async () => {
    const manager = await open();
    const { id } = await create(manager, {
      behaviour: 'unwell',
      room: 'nobody gets in with ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8',
    });
    const unwell = await becomes(manager, id, ({ heartbeat, reason }) => heartbeat === 'fresh' && reason !== null);
    expect(unwell).toMatchObject({ status: 'running', healthy: false, reason: 'nobody gets in with [redacted:token]' });
    await manager.call('PATCH', `/instances/${id}`, { config: { room: 'lobby', behaviour: 'good' } });
    expect(await becomes(manager, id, ({ heartbeat }) => heartbeat === 'fresh')).toMatchObject({ healthy: true, reason: null });
  });
});

describe('the heartbeat', () => {
  test('[M06] of a suspended process goes stale without a kill, and is fresh again once it resumes', async () => {
    const manager = await open({ SVC_HEARTBEAT_STALE_MS: '400' });
    const { pid } = await create(manager, {});
    await becomes(manager, 'sample', (instance) => instance.heartbeat === 'fresh');
    signalProcess(pid, 'SIGSTOP');
    const stale = await becomes(manager, 'sample', (instance) => instance.heartbeat === 'stale');
    expect(stale).toMatchObject({ healthy: false, status: 'running', pid });
    signalProcess(pid, 'SIGCONT');
    expect(await becomes(manager, 'sample', (instance) => instance.heartbeat === 'fresh')).toMatchObject({
      healthy: true,
      pid,
      restarts: 0,
    });
    const told = manager.telemetry.events
      .filter((event) => 'heartbeat' in event.payload)
      .map((event) => event.payload['heartbeat']);
    expect(told).toEqual(['stale', 'fresh']);
  });

  test('[M06] of a process that never sent one is unknown, and the process counts as healthy', async () => {
    const manager = await open({ SVC_HEARTBEAT_STALE_MS: '100' });
    const mute = await create(manager, { behaviour: 'mute' });
    // One that beats once and no more, started later, shows when the limit has passed for both.
    const { id, pid } = await create(manager, {});
    await becomes(manager, id, (instance) => instance.heartbeat === 'fresh');
    signalProcess(pid, 'SIGSTOP');
    await becomes(manager, id, (instance) => instance.heartbeat === 'stale');
    signalProcess(pid, 'SIGCONT');
    expect(await read(manager, mute.id)).toMatchObject({
      heartbeat: 'unknown',
      last_heartbeat_at: null,
      healthy: true,
      status: 'running',
    });
  });
});

describe('the folder of an instance', () => {
  test('is created again at the next start if it was removed', async () => {
    const manager = await open();
    await create(manager, {});
    await manager.call('POST', '/instances/sample/stop');
    rmSync(path.join(manager.dataDir, 'instances'), { recursive: true });
    const { body } = await manager.call('POST', '/instances/sample/start');
    expect(body['instance']).toMatchObject({ status: 'running' });
  });
});

describe('secrets', () => {
  const secrets = { TOKEN_A: 'value-of-token-a', TOKEN_B: 'value-of-token-b' };
  const withSecrets = async (mode = 0o600) => {
    const manager = await open();
    const file = path.join(manager.dataDir, 'secrets.json');
    writeFileSync(file, JSON.stringify(secrets));
    chmodSync(file, mode);
    return manager;
  };

  test('are given to the instance whose config names them, and masked in its log', async () => {
    const manager = await withSecrets();
    const { status } = await create(manager, { behaviour: 'secret', token_secret: 'TOKEN_A', wanted_secret: 'TOKEN_A' });
    expect(status).toBe('running');
    await eventually(
      () => logsOf(manager, 'sample'),
      (lines) => lines.includes('got [redacted:secret]'),
    );
    expect(readFileSync(path.join(manager.dataDir, 'logs/instance-sample.log'), 'utf8')).not.toContain('value-of');
  });

  test('are masked in the log of an instance that was given none, and so are texts that look like secrets', async () => {
    const manager = await withSecrets();
    await create(manager, { behaviour: 'speak', room: 'value-of-token-b ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8' });
    const said = await eventually(
      () => logsOf(manager, 'sample'),
      (lines) => ['says', 'complains'].every((word) => lines.some((line) => line.startsWith(word))),
    );
    expect(said.toSorted()).toEqual(['complains [redacted:secret] [redacted:token]', 'says [redacted:secret] [redacted:token]']);
    expect(readFileSync(path.join(manager.dataDir, 'logs/instance-sample.log'), 'utf8')).not.toMatch(/value-of|ghp_/);
  });

  test('are masked by the manager once they were given out, whatever their source and name', async () => {
    vi.stubEnv('SHED_DOOR', 'tulips under the oak');
    const manager = await withSecrets();
    const line = () => manager.context.knownSecrets.line('the tulips under the oak');
    expect(line()).toBe('the tulips under the oak');
    await create(manager, { behaviour: 'secret', token_secret: 'SHED_DOOR', wanted_secret: 'SHED_DOOR' });
    expect(line()).toBe('the [redacted:secret]');
  });

  test.each([
    ['that its config does not name', 'TOKEN_B', 0o600, 'does not name the secret "TOKEN_B"'],
    ['that nobody has', 'TOKEN_C', 0o600, 'The secret "TOKEN_C" is not set. Put it into'],
    ['of the service itself', 'SVC_MANAGER_TOKEN', 0o600, 'belongs to the service'],
    ['from a file that others can read', 'TOKEN_A', 0o644, 'chmod 600'],
  ])('[M08] %s are refused with an explanation', async (_, wanted, mode, message) => {
    const manager = await withSecrets(mode);
    await create(manager, {
      behaviour: 'secret',
      token_secret: wanted === 'TOKEN_B' ? 'TOKEN_A' : wanted,
      wanted_secret: wanted,
    });
    expect((await read(manager, 'sample')).last_exit?.reason).toContain(message);
  });

  test('that do not exist keep the connector from starting until they are set and it is restarted', async () => {
    const manager = await withSecrets();
    await create(manager, { behaviour: 'secret', token_secret: 'TOKEN_C', wanted_secret: 'TOKEN_C' });
    expect((await read(manager, 'sample')).last_exit?.reason).toContain('is not set');
    const file = path.join(manager.dataDir, 'secrets.json');
    writeFileSync(file, JSON.stringify({ ...secrets, TOKEN_C: 'value-of-token-c' }), { mode: 0o600 });
    expect((await manager.call('POST', '/instances/sample/restart')).body['instance']).toMatchObject({ status: 'running' });
  });
});

test('[M08] a connector process inherits no token, environment or open file of the manager', async () => {
  process.env['SVC_MANAGER_TOKEN'] = 'canary-manager-token';
  process.env['DATABASE_URL'] = 'canary-database';
  try {
    const manager = await open();
    const { pid } = await create(manager, {});
    const proc = (file: string) => `/proc/${pid}/${file}`;
    const environ = readFileSync(proc('environ'), 'utf8').split('\0').filter(Boolean);
    const known = /^(PATH|HOME|LANG|TZ|TMPDIR|NODE_COMPILE_CACHE(?:_PORTABLE)?|SVC_LOG_LEVEL|NODE_CHANNEL_\w+)=/;
    expect(environ.filter((entry) => !known.test(entry) || entry.includes('canary'))).toEqual([]);
    const files = readdirSync(proc('fd')).map((fd) => readlinkSync(proc(`fd/${fd}`)));
    expect(files.filter((target) => target.includes(manager.dataDir))).toEqual([]);
    expect(readlinkSync(proc('cwd'))).toBe(path.join(manager.dataDir, 'instances/sample'));
  } finally {
    delete process.env['SVC_MANAGER_TOKEN'];
    delete process.env['DATABASE_URL'];
  }
});
