import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import type { SupervisorState } from '@svc/contract/service.ts';
import { readIfThere } from '@svc/service-kit/files.ts';
import { requestJson, type JsonResponse } from '@svc/service-kit/http/json-client.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from './free-ports.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type HouseOptions = { env?: Record<string, string>; dataDir?: string };

/** The running service, with a data folder and ports of its own. */
export type House = {
  /** Its data folder. */
  readonly folder: string;
  readonly urls: { core: string; manager: string; collector: string; compat: string };
  readonly pid: number;
  /** Settles with the exit code. */
  readonly exited: Promise<number | null>;
  /** Its output so far. */
  output(): string;
  /** The body of a response. */
  get<T>(address: string): Promise<T>;
  post<T>(address: string, body?: unknown): Promise<JsonResponse<T>>;
  /** The key of the first compat instance. */
  key(): string;
  supervisor(): SupervisorState;
  /** The current process id of a host process, according to the supervisor. */
  pidOf(name: string): number;
  compatPid(): Promise<number>;
  /** Stops the service as Ctrl-C does, and returns its exit code. */
  stop(): Promise<number | null>;
};

/**
 * The whole service as a person starts it: `svc up` in a process of its own, with its own data folder and ports.
 * Resolves when everything is up. Of the caller's environment it gets only what every shell has.
 */
export async function openHouse({ env = {}, dataDir }: HouseOptions = {}): Promise<House> {
  const folder = dataDir === undefined ? temporaryFolder() : { path: dataDir, remove: () => undefined };
  const [core, manager, collector, compat] = (await freePorts(4)) as [number, number, number, number];
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'up'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder.path,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATA_DIR: folder.path,
      SVC_CORE_PORT: String(core),
      SVC_MANAGER_PORT: String(manager),
      SVC_COLLECTOR_PORT: String(collector),
      SVC_COMPAT_PORT: String(compat),
      SVC_DEFAULT_ENGINE: 'offline',
      SVC_DASHBOARD: 'off', // a test that wants it names its port
      SVC_TITLES: 'words', // no request to an engine that a test does not make
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const urls = { core: url(core), manager: url(manager), collector: url(collector), compat: url(compat) };

  const stateFile = path.join(folder.path, 'run/supervisor.json');
  const house: House = {
    folder: folder.path,
    urls,
    pid: child.pid ?? 0,
    exited,
    output: () => output,
    get: async <T>(address: string) => (await requestJson<T>(address, { timeoutMs: 40_000 })).body,
    post: <T>(address: string, body?: unknown) => requestJson<T>(address, { method: 'POST', body, timeoutMs: 40_000 }),
    key() {
      const file = path.join(folder.path, 'instances/compat/keys.json');
      return (JSON.parse(readFileSync(file, 'utf8')) as { keys: { key: string }[] }).keys[0]?.key ?? '';
    },
    supervisor: () => JSON.parse(readFileSync(stateFile, 'utf8')) as SupervisorState,
    pidOf(name) {
      return house.supervisor().services.find((service) => service.name === name)?.pid ?? 0;
    },
    async compatPid() {
      const { instances } = await house.get<{ instances: Instance[] }>(`${urls.manager}/instances`);
      return instances[0]?.pid ?? 0;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      const code = await exited;
      folder.remove();
      return code;
    },
  };
  /** Reading a file takes a fraction of asking processes that do not listen yet. */
  const haveStarted = () => {
    const state = readIfThere(stateFile);
    const { services } = JSON.parse(state ?? '{"services":[]}') as Pick<SupervisorState, 'services'>;
    const running = services.flatMap(({ name, status }) => (status === 'running' ? [name] : []));
    return ['core', 'manager', 'collector'].every((name) => running.includes(name));
  };
  const silent = new Set(Object.values(urls));
  try {
    await waitFor(
      async () => haveStarted() && (await areUp(silent)),
      30_000,
      () => `the service is not up:\n${output}`,
      exited,
    );
  } catch (error) {
    // Nothing else would stop the process.
    await house.stop();
    throw error;
  }
  return house;
}

/** Asks each address until it has answered once. */
async function areUp(silent: Set<string>): Promise<boolean> {
  const ask = async (address: string) => {
    const answer = await requestJson(`${address}/health`, { timeoutMs: 5000 }).catch(() => null);
    if (answer?.status === 200) silent.delete(address);
  };
  await Promise.all([...silent].map(ask));
  return silent.size === 0;
}

/** A busy machine may need this long for quick operations. Limits in tests only prevent hanging. */
const patienceMs = 40_000;

/** Polls until `check` is true, with pauses that grow with what a look costs. Fails after `timeoutMs` plus a margin, or when the process has ended, with the message of `explain`. */
export async function waitFor(
  check: () => Promise<boolean> | boolean,
  timeoutMs: number,
  explain: () => string,
  gone: Promise<unknown> = new Promise(() => undefined),
): Promise<void> {
  const until = Date.now() + timeoutMs + patienceMs;
  let isGone = false;
  void gone.then(() => (isGone = true));
  for (;;) {
    const begunAt = performance.now();
    if (await check()) return;
    if (isGone || Date.now() > until) throw new Error(explain());
    const pauseMs = Math.min(Math.max(20, 4 * (performance.now() - begunAt)), 250);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
