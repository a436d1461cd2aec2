import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SupervisorState } from '@svc/contract/service.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';

const fixture = (name: string) => path.join(import.meta.dirname, 'fixtures', name);
const mainFile = path.resolve(import.meta.dirname, '../src/main.ts');

let folder: TemporaryFolder;
let dataDir = '';
let ports: number[] = [];
let children: ChildProcess[] = [];

async function openPlace(): Promise<void> {
  folder = temporaryFolder();
  dataDir = path.join(folder.path, 'data');
  ports = await freePorts(4);
  children = [];
}
async function closePlace(): Promise<void> {
  for (const child of children) if (!hasEnded(child)) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) => new Promise((resolve) => (hasEnded(child) ? resolve(null) : child.once('exit', resolve)))),
  );
  folder.remove();
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function env(more: Record<string, string> = {}): Record<string, string> {
  const [core, manager, collector, compat] = ports.map(String);
  return {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    HOME: dataDir,
    SVC_DATA_DIR: dataDir,
    SVC_CORE_PORT: core ?? '',
    SVC_MANAGER_PORT: manager ?? '',
    SVC_DASHBOARD: 'off',
    SVC_COLLECTOR_PORT: collector ?? '',
    SVC_COMPAT_PORT: compat ?? '',
    OPENAI_API_KEY: 'of the operator',
    ...more,
  };
}

/** A program with its output and its end. */
function start(file: string, args: string[] = [], more: Record<string, string> = {}, node = process.execPath) {
  const child = spawn(node, [file, ...args], { env: env(more), stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    ended,
    output: () => output,
    says: (text: string) => expect.poll(() => output).toContain(text),
  };
}
const startUp = (more: Record<string, string> = {}) => start(fixture('run-up.ts'), [], more);

const stateFile = () => path.join(dataDir, 'run/supervisor.json');
const state = () => JSON.parse(readFileSync(stateFile(), 'utf8')) as SupervisorState;
const service = (name: string) => state().services.find((candidate) => candidate.name === name);

describe('svc up', () => {
  beforeEach(openPlace);
  afterEach(closePlace);

  test('runs the three host processes, shows the new key once, and stops all of them on a signal', async () => {
    const first = startUp();
    await first.says('Ctrl-C stops all');
    expect(first.output()).toMatch(/runs, ready in \d+\.\d s/);
    expect(first.output()).toContain('sk-test-key  shown this once');
    const pids = state().services.map(({ pid }) => Number(pid));
    expect(state().services.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'core running',
      'manager running',
      'collector running',
    ]);
    for (const dir of ['', 'run', 'logs']) expect(statSync(path.join(dataDir, dir)).mode & 0o777).toBe(0o700);
    for (const file of ['run/supervisor.json', 'run/supervisor.lock', 'logs/core.log'])
      expect(statSync(path.join(dataDir, file)).mode & 0o777).toBe(0o600);

    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(stateFile())).toBe(false);

    const second = startUp();
    await second.says('Ctrl-C stops all');
    expect(second.output()).not.toContain('sk-test-key');
    expect(second.output()).toContain(path.join(dataDir, 'instances/inst_1/keys.json'));
  });

  test('stops at once when it is stopped while it starts, without saying that it runs', async () => {
    const first = startUp();
    const isUp = async (port: number) =>
      (await requestJson(`http://127.0.0.1:${port}/health`, { timeoutMs: 5000 })).status === 200;
    await expect
      .poll(() => Promise.all(ports.slice(0, 3).map(isUp)).catch(() => []), { interval: 20 })
      .toEqual([true, true, true]);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(first.output().split('Stopping')[1]).toBe(' … (Ctrl-C again ends everything at once)\nStopped.\n');
    expect(readFileSync(path.join(dataDir, 'logs/manager.log'), 'utf8')).not.toContain('did not stop in time');
  });

  test('runs without a dashboard that cannot start, shows the reason, and keeps retrying', async () => {
    const up = startUp({ SVC_DASHBOARD: 'on', FAIL: 'dashboard' });
    await up.says('Ctrl-C stops all');
    expect(up.output()).toMatch(/runs in part/);
    expect(up.output()).toMatch(/Dashboard +(?:starting|backoff): /);
    await expect.poll(() => service('dashboard')?.failures).toBeGreaterThan(1);
    expect(
      state()
        .services.filter(({ status }) => status === 'running')
        .map(({ name }) => name),
    ).toEqual(['core', 'manager', 'collector']);
    up.child.kill('SIGINT');
    expect(await up.ended).toBe(0);
  });

  test('keeps running, and shows the key, when the set-up link of the login cannot be stored', async () => {
    mkdirSync(path.join(dataDir, 'run/login-setup.json/in-the-way'), { recursive: true });
    const [port] = await freePorts(1);
    const up = startUp({ SVC_DASHBOARD: 'on', SVC_DASHBOARD_PORT: String(port) });
    await up.says('Ctrl-C stops all');
    expect(up.output()).toContain('Make one later: ./svc auth setup');
    expect(up.output()).toContain('sk-test-key  shown this once');
    expect(service('core')?.status).toBe('running');
  });

  test('restarts a process however often it is killed, and shows the number of failures and the next start', async () => {
    const up = startUp();
    await up.says('Ctrl-C stops all');
    let last = 0;
    let kills = 0;
    const killCore = async () => {
      await expect.poll(() => service('core')?.status === 'running' && service('core')?.pid).not.toBe(false);
      expect(service('core')?.pid).not.toBe(last);
      last = Number(service('core')?.pid);
      signalProcess(last, 'SIGKILL');
      kills++;
      // The first waits are so short that the next process may already be running.
      await expect.poll(() => service('core')?.failures === kills && service('core')?.pid !== last).toBe(true);
    };
    while (kills < 6) await killCore();
    expect(service('core')).toMatchObject({ status: 'backoff', next_start_at: expect.any(Number) });
    // Each wait is twice as long as the one before: on a busy machine a later one is seen.
    const statusOf = async () => {
      const status = start(mainFile, ['status', '--json']);
      return { code: await status.ended, core: JSON.parse(status.output()).services[0] };
    };
    let seen = await statusOf();
    for (; seen.core.status !== 'backoff' && kills < 9; seen = await statusOf()) await killCore();
    expect(seen).toMatchObject({
      code: 1,
      core: {
        name: 'core',
        healthy: false,
        status: 'backoff',
        failures: kills,
        reason: expect.stringContaining('was ended by SIGKILL'),
        next_start_at: expect.any(Number),
        last_lines: [
          expect.stringContaining('core is ready'),
          expect.anything(),
          expect.anything(),
          expect.anything(),
          expect.anything(),
        ],
      },
    });
    expect(up.output()).toContain('(6 times in a row). Starting it again in');
    await expect.poll(() => service('core')?.status).toBe('running');
  });

  test('waits for a port that another program took while the process was down, and names the program', async () => {
    const up = startUp();
    await up.says('Ctrl-C stops all');
    signalProcess(service('core')?.pid, 'SIGSTOP');
    signalProcess(service('core')?.pid, 'SIGKILL');
    const server = createServer();
    // The port is free only from the moment in which the core is gone.
    const listen = () => server.listen(ports[0], '127.0.0.1');
    server.on('error', () => setTimeout(listen, 1));
    listen();
    await new Promise((resolve) => server.once('listening', resolve));
    await up.says(`port ${ports[0]} is used by`);
    if (process.platform === 'linux') expect(up.output()).toContain(`(process ${process.pid})`);
    await expect.poll(() => service('core')?.last_exit?.reason).toContain(`port ${ports[0]} is used by`);
    expect(service('core')?.status).not.toBe('failed');
    server.close();
    await expect.poll(() => service('core')?.status).toBe('running');
  });

  test('exits with the reason when it can no longer start any process', async () => {
    const node = path.join(path.dirname(dataDir), 'node');
    copyFileSync(process.execPath, node);
    const up = start(fixture('run-up.ts'), [], { SPAWN_PATIENCE_MS: '1000' }, node);
    await up.says('Ctrl-C stops all');
    const pids = state().services.map(({ pid }) => Number(pid));
    rmSync(node);
    signalProcess(service('collector')?.pid, 'SIGKILL');
    expect(await up.ended).toBe(1);
    expect(up.output()).toContain('collector could not be started: spawn');
    expect(up.output()).toContain('No process could be started');
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('names the program that uses a port, and the setting that changes ours', async () => {
    const server = createServer().listen(ports[1], '127.0.0.1');
    try {
      const up = startUp();
      expect(await up.ended).toBe(69);
      expect(up.output()).toContain(`Port ${ports[1]} (manager) is used by`);
      if (process.platform === 'linux') expect(up.output()).toContain(`(process ${process.pid})`);
      expect(up.output()).toContain('SVC_MANAGER_PORT');
    } finally {
      server.close();
    }
  });

  test('exits with the reason when a host process cannot start at all', async () => {
    const up = startUp({ FAIL: 'manager' });
    expect(await up.ended).toBe(78);
    expect(up.output()).toContain('manager could not start');
    expect(up.output()).toContain('SVC_X is wrong');
    expect(up.output()).toContain('Run: ./svc logs manager');
  });

  test('reports all bad settings at once', async () => {
    const up = startUp({ SVC_CORE_PORT: 'x', SVC_LOG_LEVEL: 'loud' });
    expect(await up.ended).toBe(78);
    expect(up.output()).toContain('SVC_CORE_PORT is "x"');
    expect(up.output()).toContain('SVC_LOG_LEVEL is "loud"');
  });

  test('waits for another svc up that is still stopping, and then runs', async () => {
    const first = startUp({ SVC_STAND_IN_STOP_MS: '1500' });
    await first.says('Ctrl-C stops all');
    first.child.kill('SIGINT');
    await first.says('Stopping …');
    const second = startUp();
    await second.says('Ctrl-C stops all');
    expect(second.output()).toContain('Waiting for the service to stop …');
    expect(hasEnded(first.child)).toBe(true);
  });

  test('leaves no process behind when it is killed, and starts again on the same ports', async () => {
    const first = startUp();
    await first.says('Ctrl-C stops all');
    const pids = state().services.map(({ pid }) => Number(pid));
    first.child.kill('SIGKILL');
    const second = startUp();
    await second.says('Ctrl-C stops all');
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('keeps running when its output cannot be written', async ({ skip }) => {
    skip(!existsSync('/dev/full'), 'this system has no /dev/full');
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [fixture('run-up.ts')], { env: env(), stdio: ['ignore', full, full] });
    children.push(child);
    closeSync(full);
    const ended = new Promise((resolve) => child.once('close', resolve));
    const areUp = () => existsSync(stateFile()) && state().services.every(({ status }) => status === 'running');
    await expect.poll(areUp).toBe(true);
    signalProcess(service('collector')?.pid, 'SIGKILL');
    await expect.poll(() => service('collector')?.restarts).toBe(1);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });
});

describe('a running svc up', () => {
  let up: ReturnType<typeof start>;
  beforeAll(openPlace);
  /** Starts it again after a test that ended it. */
  beforeEach(async () => {
    if (up === undefined || hasEnded(up.child)) up = startUp();
    await up.says('Ctrl-C stops all');
  });
  afterAll(closePlace);

  test('passes the credentials of engines to the core only', async () => {
    const names = async (port: number | undefined) =>
      (await requestJson<string[]>(`http://127.0.0.1:${port}/env`, { timeoutMs: 5000 })).body;
    expect(await names(ports[0])).toContain('OPENAI_API_KEY');
    expect(await names(ports[1])).not.toContain('OPENAI_API_KEY');
    expect(await names(ports[2])).not.toContain('OPENAI_API_KEY');
  });

  test('a second svc up on the same data folder shows the running one and exits with 0', async () => {
    const second = startUp();
    expect(await second.ended).toBe(0);
    expect(second.output()).toContain(`as process ${up.child.pid}`);
    expect(second.output()).toContain(`http://127.0.0.1:${ports[0]}`);
    expect(isAlive(Number(service('core')?.pid))).toBe(true);
  });

  test('reports a crash in one line and restarts the process', async () => {
    const { restarts = 0 } = service('collector') ?? {};
    signalProcess(service('collector')?.pid, 'SIGKILL');
    await up.says('collector is back');
    expect(up.output()).toMatch(/^\d\d:\d\d:\d\d collector was ended by SIGKILL.*Starting it again/m);
    await expect
      .poll(() => service('collector'))
      .toMatchObject({ status: 'running', restarts: restarts + 1, last_exit: { signal: 'SIGKILL' } });
  });

  test('is reported as healthy by svc status and svc doctor', async () => {
    const [status, doctor] = [start(mainFile, ['status', '--json']), start(mainFile, ['doctor', '--json'])];
    expect([await status.ended, JSON.parse(status.output()).problems]).toEqual([0, []]);
    expect(JSON.parse(status.output())).toMatchObject({
      services: [
        {
          name: 'core',
          url: `http://127.0.0.1:${ports[0]}`,
          pid: service('core')?.pid,
          healthy: true,
          version: '0.1.0',
          sha: 'abc',
        },
        { name: 'manager', healthy: true },
        { name: 'collector', healthy: true },
      ],
      instances: [{ id: 'inst_1', type: 'compat', name: 'compat', status: 'running', url: 'http://127.0.0.1:3025' }],
      engine: { id: 'offline', model: null, why: 'No engine is installed.' },
    });
    await doctor.ended;
    const services = ['core', 'manager', 'collector'].map((name, n) => [name, 'ok', `http://127.0.0.1:${ports[n]}`]);
    const { findings } = JSON.parse(doctor.output()) as { findings: { name: string; state: string; text: string }[] };
    expect(findings.map(({ name, state, text }) => [name, state, text])).toEqual(
      expect.arrayContaining([...services, ['instance', 'ok', 'compat (compat) running']]),
    );
  });
});

describe('without a running service', () => {
  beforeEach(openPlace);
  afterEach(closePlace);

  test('svc status exits with 3 and shows no supervisor', async () => {
    const before = start(mainFile, ['status', '--json']);
    expect(await before.ended).toBe(3);
    expect(JSON.parse(before.output())).toMatchObject({ supervisor: null, engine: null, instances: [] });
  });

  test('svc chat says that the service is not running', async () => {
    const chat = start(mainFile, ['chat', 'hello']);
    expect(await chat.ended).toBe(1);
    expect(chat.output()).toContain('the service is not running');
    expect(chat.output()).toContain('Run: ./svc up');
  });
});
