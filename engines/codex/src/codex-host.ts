import type { EngineDeps } from '@svc/engine-kit/engine.ts';
import { treeMemory } from '@svc/engine-kit/process-memory.ts';
import { startAppServer, type AppServer } from './app-server.ts';
import type { CodexProgram } from './find-codex.ts';
import { startResponsesShim, type ResponsesShim } from './responses-shim.ts';
import { endpointModel } from './endpoint-model.ts';
import { openModelCatalogs, type ModelCatalogs } from './model-catalog.ts';
import type { Endpoint } from './thread-config.ts';
import { createThreads, type Threads } from './threads.ts';

export type RunningCodex = {
  server: AppServer;
  threads: Threads;
  endpoint: Endpoint | null;
  catalogs: ModelCatalogs;
  /** Model for turns that name none; null for codex's default. */
  defaultModel: string | null;
  /** The state at the start of the program: a later login or logout requires a new one. */
  isLoggedIn: boolean;
};

/** One turn's use of the app-server. */
export type Lease = {
  codex: RunningCodex;
  /** True when it was already running before the turn asked for it: it may hang by now. */
  isWarm: boolean;
  release(): void;
  /** Stops giving it new turns; it ends after its last running one. */
  retire(): void;
  /** Ends leftover processes of commands once no turn uses the app-server, because it is unknown to which turn they belong. */
  endOrphans(): void;
};

/**
 * The only app-server of an engine: started by the first turn, replaced after a crash or when it uses too much memory, stopped when idle.
 */
export type CodexHost = {
  /** Returns the app-server, which is not stopped for being idle until it is released. */
  acquire(): Promise<Lease>;
  /** Unloads a thread from every app-server that may have loaded it. */
  letGo(threadId: string): Promise<void>;
  /** Permanently removes a thread and its sub-agents' threads. */
  remove(threadId: string): Promise<void>;
  close(): Promise<void>;
};

type Deps = Pick<EngineDeps, 'baseUrl' | 'env' | 'apiKey' | 'warm' | 'warmMemory' | 'maxLine' | 'log'> & {
  programEnv: Record<string, string>;
  cwd: string;
  /** True when turns are paid for by a key, which needs no login. */
  isByKey: boolean;
};

/** An app-server and its turns. */
type Hosted = {
  started: Promise<RunningCodex>;
  isUp: boolean;
  users: number;
  owesOrphans: boolean;
  idleTimer: NodeJS.Timeout | undefined;
};

/** The running parts of an engine. */
type Host = {
  readonly program: CodexProgram;
  readonly deps: Deps;
  /** App-servers that have not ended yet. */
  readonly all: Set<Hosted>;
  /** The app-server for the next turn. */
  current: Hosted | null;
  /** The relay to a self-hosted endpoint, shared by all app-servers. */
  shim: Promise<ResponsesShim> | null;
};

const idleMs = 5 * 60_000;

export function createCodexHost(program: CodexProgram, deps: Deps): CodexHost {
  const host: Host = { program, deps, all: new Set(), current: null, shim: null };
  return {
    acquire: () => acquire(host),
    letGo: (threadId) => letGo(host, threadId),
    async remove(threadId) {
      await letGo(host, threadId);
      const { codex, release: done } = await acquire(host);
      try {
        await codex.threads.remove(threadId);
      } finally {
        done();
      }
    },
    async close() {
      await Promise.all(Array.from(host.all, (hosted) => stop(host, hosted)));
      await (await host.shim)?.close();
    },
  };
}

async function letGo(host: Host, threadId: string): Promise<void> {
  const running = await Promise.allSettled(Array.from(host.all, ({ started }) => started));
  const up = running.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await Promise.all(up.map(({ threads }) => threads.release(threadId)));
}

/** Retries when the app-server began to end while the turn waited for it. A turn that opened one keeps it, so each opens at most one. */
async function acquire(host: Host): Promise<Lease> {
  const isOwn = host.current === null;
  const hosted = (host.current ??= open(host));
  const { isUp: isWarm } = hosted;
  clearTimeout(hosted.idleTimer);
  hosted.users++;
  try {
    const codex = await hosted.started;
    if (isOwn || !codex.server.ending.aborted) return { codex, isWarm, ...leaseOf(host, hosted) };
  } catch (error) {
    release(host, hosted);
    throw error;
  }
  dismiss(host, hosted);
  release(host, hosted);
  return acquire(host);
}

const leaseOf = (host: Host, hosted: Hosted): Pick<Lease, 'release' | 'retire' | 'endOrphans'> => ({
  release: () => release(host, hosted),
  retire: () => retire(host, hosted),
  endOrphans: () => endOrphans(host, hosted),
});

function open(host: Host): Hosted {
  const { promise: started, resolve } = Promise.withResolvers<RunningCodex>();
  const hosted: Hosted = { started, isUp: false, users: 0, owesOrphans: false, idleTimer: undefined };
  resolve(start(host, hosted));
  started.then(
    () => (hosted.isUp = true),
    () => forget(host, hosted), // the turn that waits for it reports the reason
  );
  host.all.add(hosted);
  return hosted;
}

async function start(host: Host, hosted: Hosted): Promise<RunningCodex> {
  const { baseUrl, programEnv: env, cwd, log, maxLine, warm, isByKey } = host.deps;
  if (baseUrl !== null) host.shim ??= openShim(host, baseUrl);
  const endpoint = await host.shim;
  const place = { program: host.program.program, env, cwd, log, maxLine };
  const catalogs = await openModelCatalogs(place);
  const [server, defaultModel] = await Promise.all([
    startAppServer({ ...place, catalog: catalogs.reader }),
    endpoint && endpointModel(endpoint.url, endpoint.token),
  ]);
  server.ending.addEventListener('abort', () => dismiss(host, hosted), { once: true });
  void server.ended.then(({ reason }) => {
    forget(host, hosted);
    log.debug({ reason }, 'the codex app-server ended');
  });
  const isLoggedIn = endpoint !== null || isByKey || (await readLogin(server));
  const threads = createThreads(server, warm, env.CODEX_HOME ?? cwd);
  return { server, threads, endpoint, catalogs, defaultModel, isLoggedIn };
}

const openShim = (host: Host, baseUrl: string): Promise<ResponsesShim> =>
  startResponsesShim({ baseUrl, apiKey: endpointKey(baseUrl, host.deps) }).catch((error: unknown) => {
    host.shim = null; // it may work for the next turn
    throw error;
  });

/** From now on, no turn gets it. */
function dismiss(host: Host, hosted: Hosted): void {
  if (host.current === hosted) host.current = null;
}

function forget(host: Host, hosted: Hosted): void {
  clearTimeout(hosted.idleTimer);
  host.all.delete(hosted);
  dismiss(host, hosted);
}

/** It is forgotten only once it has ended, so that `close` waits for it too. */
async function stop(host: Host, hosted: Hosted): Promise<void> {
  dismiss(host, hosted);
  const codex = await hosted.started.catch(() => null);
  await codex?.server.stop();
  forget(host, hosted);
}

function retire(host: Host, hosted: Hosted): void {
  dismiss(host, hosted);
  if (hosted.users === 0) void stop(host, hosted);
}

/** Runs in parallel with turns; the app-server still serves its last ones. */
async function retireWhenTooLarge(host: Host, hosted: Hosted): Promise<void> {
  const { warmMemory, log } = host.deps;
  const { pid } = (await hosted.started).server;
  const held = pid === undefined ? null : await treeMemory(pid);
  if (held === null || held <= warmMemory || host.current !== hosted) return;
  log.info({ held, limit: warmMemory }, 'the codex app-server uses too much memory and is replaced');
  retire(host, hosted);
}

function endOrphans({ deps }: Host, hosted: Hosted): void {
  hosted.owesOrphans = hosted.users > 0;
  if (hosted.owesOrphans) return;
  hosted.started
    .then(({ server }) => server.endOrphans())
    .catch((error: unknown) =>
      deps.log.warn({ err: error }, 'processes that the commands of a turn left behind could not be searched for'),
    );
}

function release(host: Host, hosted: Hosted): void {
  hosted.users--;
  if (hosted.owesOrphans) endOrphans(host, hosted);
  // An app-server that cannot be measured is kept: its time is limited anyway.
  if (host.current === hosted) void retireWhenTooLarge(host, hosted).catch(() => undefined);
  if (hosted.users > 0) return;
  const isKept = host.deps.warm > 0 && host.current === hosted;
  hosted.idleTimer = setTimeout(() => void stop(host, hosted), isKept ? idleMs : 0);
  hosted.idleTimer.unref();
}

/** Lets a turn without a login fail at once, instead of waiting for the vendor's refusal. */
async function readLogin(server: AppServer): Promise<boolean> {
  type Answer = { account: unknown; requiresOpenaiAuth: boolean };
  try {
    const { account, requiresOpenaiAuth } = await server.request<Answer>('account/read', {});
    return account !== null || !requiresOpenaiAuth;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Only remote endpoints get a key, never a server on this machine. A key stored by the operator takes precedence. */
export function endpointKey(baseUrl: string, { env, apiKey }: Pick<EngineDeps, 'env' | 'apiKey'>): string | null {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
  return isLocal ? null : (apiKey?.reveal() ?? env.OPENAI_API_KEY ?? null);
}
