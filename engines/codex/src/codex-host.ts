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
  /** For turns that name no model; null leaves it to codex. */
  defaultModel: string | null;
  /** As it was when the program started: a login or logout since then takes a new one. */
  isLoggedIn: boolean;
};

/** The app-server as one turn has it. */
export type Lease = {
  codex: RunningCodex;
  /** True when it was running before the turn asked for it: it may have got stuck since. */
  isWarm: boolean;
  release(): void;
  /** Gives it no more turns; it ends with the last one it has. */
  retire(): void;
  /** Ends what commands have left behind, as soon as no turn has the app-server: whose it is cannot be told. */
  endOrphans(): void;
};

/**
 * The one app-server of an engine: started by the first turn, replaced after a crash or when it has grown too large,
 * stopped when idle.
 */
export type CodexHost = {
  /** The app-server, which is not stopped for idleness until it is released. */
  acquire(): Promise<Lease>;
  close(): Promise<void>;
};

type Deps = Pick<EngineDeps, 'baseUrl' | 'env' | 'apiKey' | 'warm' | 'warmMemory' | 'maxLine' | 'log'> & {
  programEnv: Record<string, string>;
  cwd: string;
  /** True when the turns pay with a key, which needs no login. */
  isByKey: boolean;
};

/** One app-server and the turns that it has. */
type Hosted = {
  started: Promise<RunningCodex>;
  isUp: boolean;
  users: number;
  owesOrphans: boolean;
  idleTimer: NodeJS.Timeout | undefined;
};

const idleMs = 5 * 60_000;

export function createCodexHost(program: CodexProgram, deps: Deps): CodexHost {
  const { warm, warmMemory, log } = deps;
  const all = new Set<Hosted>();
  let shim: Promise<ResponsesShim> | null = null;
  let current: Hosted | null = null;

  const openShim = (baseUrl: string) =>
    startResponsesShim({ baseUrl, apiKey: endpointKey(baseUrl, deps) }).catch((error: unknown) => {
      shim = null; // it may work for the next turn
      throw error;
    });

  const start = async (hosted: Hosted): Promise<RunningCodex> => {
    const { baseUrl } = deps;
    if (baseUrl !== null) shim ??= openShim(baseUrl);
    const endpoint = await shim;
    const place = { program: program.program, env: deps.programEnv, cwd: deps.cwd, log, maxLine: deps.maxLine };
    const catalogs = await openModelCatalogs(place);
    const [server, defaultModel] = await Promise.all([
      startAppServer({ ...place, catalog: catalogs.reader }),
      endpoint && endpointModel(endpoint.url, endpoint.token),
    ]);
    server.ending.addEventListener('abort', () => dismiss(hosted), { once: true });
    void server.ended.then(({ reason }) => {
      forget(hosted);
      log.debug({ reason }, 'the codex app-server ended');
    });
    const isLoggedIn = endpoint !== null || deps.isByKey || (await readLogin(server));
    return { server, threads: createThreads(server, warm), endpoint, catalogs, defaultModel, isLoggedIn };
  };

  const open = (): Hosted => {
    const { promise: started, resolve } = Promise.withResolvers<RunningCodex>();
    const hosted: Hosted = { started, isUp: false, users: 0, owesOrphans: false, idleTimer: undefined };
    resolve(start(hosted));
    started.then(
      () => (hosted.isUp = true),
      () => forget(hosted), // the turn that waits for it tells
    );
    all.add(hosted);
    return hosted;
  };

  /** No turn gets it from now on. */
  const dismiss = (hosted: Hosted) => {
    if (current === hosted) current = null;
  };

  const forget = (hosted: Hosted) => {
    clearTimeout(hosted.idleTimer);
    all.delete(hosted);
    dismiss(hosted);
  };

  /** It is forgotten when it is gone, so that `close` waits for it too. */
  const stop = async (hosted: Hosted) => {
    dismiss(hosted);
    const codex = await hosted.started.catch(() => null);
    await codex?.server.stop();
    forget(hosted);
  };

  const retire = (hosted: Hosted) => {
    dismiss(hosted);
    if (hosted.users === 0) void stop(hosted);
  };

  /** Beside the turns, whose last ones it still serves. */
  const retireWhenTooLarge = async (hosted: Hosted) => {
    const { pid } = (await hosted.started).server;
    const held = pid === undefined ? null : await treeMemory(pid);
    if (held === null || held <= warmMemory || current !== hosted) return;
    log.info({ held, limit: warmMemory }, 'the codex app-server holds too much memory and is replaced');
    retire(hosted);
  };

  const endOrphans = (hosted: Hosted) => {
    hosted.owesOrphans = hosted.users > 0;
    if (hosted.owesOrphans) return;
    hosted.started
      .then(({ server }) => server.endOrphans())
      .catch((error: unknown) =>
        log.warn({ err: error }, 'what the commands of a turn have left behind could not be looked for'),
      );
  };

  const release = (hosted: Hosted) => {
    hosted.users--;
    if (hosted.owesOrphans) endOrphans(hosted);
    // One that cannot be measured is kept: its time is bounded all the same.
    if (current === hosted) void retireWhenTooLarge(hosted).catch(() => undefined);
    if (hosted.users > 0) return;
    hosted.idleTimer = setTimeout(() => void stop(hosted), warm > 0 && current === hosted ? idleMs : 0);
    hosted.idleTimer.unref();
  };

  /** Another one, when it began to end while the turn waited for it. The one that a turn has opened is its own: each opens one at most. */
  const acquire = async (): Promise<Lease> => {
    const isOwn = current === null;
    const hosted = (current ??= open());
    const { isUp: isWarm } = hosted;
    clearTimeout(hosted.idleTimer);
    hosted.users++;
    try {
      const codex = await hosted.started;
      const isGood = isOwn || !codex.server.ending.aborted;
      const lease = { release: () => release(hosted), retire: () => retire(hosted), endOrphans: () => endOrphans(hosted) };
      if (isGood) return { codex, isWarm, ...lease };
    } catch (error) {
      release(hosted);
      throw error;
    }
    dismiss(hosted);
    release(hosted);
    return acquire();
  };

  return {
    acquire,
    async close() {
      await Promise.all(Array.from(all, stop));
      await (await shim)?.close();
    },
  };
}

/** So that a turn without a login does not wait for the vendor to refuse it. */
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

/** A key goes to an endpoint elsewhere only: what listens on this machine gets none. One that the operator has stored comes first. */
export function endpointKey(baseUrl: string, { env, apiKey }: Pick<EngineDeps, 'env' | 'apiKey'>): string | null {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
  return isLocal ? null : (apiKey?.reveal() ?? env.OPENAI_API_KEY ?? null);
}
