import type { EngineDeps } from '@svc/engine-kit/engine.ts';
import { startAppServer, type AppServer } from './app-server.ts';
import type { CodexProgram } from './find-codex.ts';
import { startResponsesShim, type ResponsesShim } from './responses-shim.ts';
import { endpointModel } from './endpoint-model.ts';
import type { Endpoint } from './thread-config.ts';
import { createThreads, type Threads } from './threads.ts';

export type RunningCodex = {
  server: AppServer;
  threads: Threads;
  endpoint: Endpoint | null;
  /** For turns that name no model; null leaves it to codex. */
  defaultModel: string | null;
};

/** The one app-server of an engine: started by the first turn, started anew after a crash, stopped when idle. */
export type CodexHost = {
  /** Runs `use` with the app-server, which is not stopped for idleness meanwhile. */
  acquire(): Promise<{ codex: RunningCodex; release(): void }>;
  close(): Promise<void>;
};

type Deps = Pick<EngineDeps, 'baseUrl' | 'env' | 'warm' | 'log'> & { programEnv: Record<string, string>; cwd: string };

const idleMs = 5 * 60_000;

export function createCodexHost(program: CodexProgram, deps: Deps): CodexHost {
  let shim: Promise<ResponsesShim> | null = null;
  let running: Promise<RunningCodex> | null = null;
  let current: AppServer | null = null;
  let users = 0;
  let idleTimer: NodeJS.Timeout | undefined;

  const start = async (): Promise<RunningCodex> => {
    const { baseUrl } = deps;
    if (baseUrl !== null) shim ??= startResponsesShim({ baseUrl, apiKey: endpointKey(baseUrl, deps.env) });
    const endpoint = await shim;
    const [server, defaultModel] = await Promise.all([
      startAppServer({ program: program.program, env: deps.programEnv, cwd: deps.cwd, log: deps.log }),
      endpoint && endpointModel(endpoint),
    ]);
    void server.ended.then(({ reason }) => {
      if (current === server) running = null;
      deps.log.debug({ reason }, 'the codex app-server ended');
    });
    current = server;
    return { server, threads: createThreads(server), endpoint, defaultModel };
  };

  const stop = async () => {
    clearTimeout(idleTimer);
    const stopping = running;
    running = null;
    const codex = await stopping?.catch(() => null);
    await codex?.server.stop();
  };

  const release = () => {
    users--;
    if (users > 0) return;
    idleTimer = setTimeout(() => void stop(), deps.warm > 0 ? idleMs : 0);
    idleTimer.unref();
  };

  return {
    async acquire() {
      clearTimeout(idleTimer);
      users++;
      try {
        running ??= start().catch((error: unknown) => {
          running = null;
          throw error;
        });
        return { codex: await running, release };
      } catch (error) {
        release();
        throw error;
      }
    },
    async close() {
      await stop();
      await (await shim)?.close();
    },
  };
}

/** A key goes to an endpoint elsewhere only: what listens on this machine gets none. */
function endpointKey(baseUrl: string, env: EngineDeps['env']): string | null {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
  return isLocal ? null : (env.OPENAI_API_KEY ?? null);
}
