import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import { findEngine } from '@svc/engine-kit/engine-path.ts';
import type { CreateEngine, EngineDeps, EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import type { AppServer } from './app-server.ts';
import { openCodexHome } from './codex-home.ts';
import { createCodexHost, type CodexHost } from './codex-host.ts';
import { acceptCodex, type CodexProgram } from './find-codex.ts';
import { RpcError } from './json-rpc.ts';
import { createPersonas } from './persona.ts';
import { probeCodex } from './probe.ts';
import { runTurn, type TurnOutcome } from './run-turn.ts';
import { keyVariable, threadParams } from './thread-config.ts';
import { notLoggedIn } from './to-failure.ts';

/** The Responses-protocol engine: `codex app-server`, one process for all conversations. */
export const createEngine: CreateEngine = (deps) => {
  let host: { program: CodexProgram; host: CodexHost } | null = null;
  const personas = createPersonas();
  /** An endpoint of one's own gets its key from us, the vendor's from the program. */
  const isByKey = deps.baseUrl === null && (deps.apiKey ?? null) !== null;
  const programEnv = () => ({
    ...engineEnv(deps.env, deps.stateDir),
    CODEX_HOME: openCodexHome(deps.stateDir, { env: deps.env, sharesLogin: deps.baseUrl === null && !isByKey }),
    ...(isByKey && { [keyVariable]: deps.apiKey?.reveal() ?? '' }),
  });

  const openHost = (program: CodexProgram): CodexHost => {
    host ??= { program, host: createCodexHost(program, { ...deps, programEnv: programEnv(), cwd: deps.stateDir }) };
    return host.host;
  };

  async function* turn(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const location = locate(deps);
    if (!location.found) return yield { type: 'failed', failure: notInstalled(location.reason) };
    const outcome = yield* attempt(location.value, request, signal);
    // What was open and is gone, or does not answer any more, is replaced once.
    if (outcome === 'server_gone') yield* attempt(location.value, request, signal);
  }

  async function* attempt(
    program: CodexProgram,
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, TurnOutcome> {
    const { codex, isWarm, release, retire } = await openHost(program).acquire();
    try {
      if (codex.endpoint === null && !isByKey && !(await isLoggedIn(codex.server))) {
        retire(); // it would not see a login of the next minute
        yield { type: 'failed', failure: notLoggedIn };
        return 'finished';
      }
      const named = { ...request, model: request.model ?? codex.defaultModel };
      const params = threadParams(named, program, isByKey ? 'vendor_by_key' : codex.endpoint);
      const outcome = yield* runTurn({ ...codex, isWarm, personas }, named, params, signal);
      if (outcome === 'server_gone') retire();
      return outcome;
    } finally {
      release();
    }
  }

  return {
    id: 'codex',
    probe: () => probeCodex({ location: locate(deps), env: programEnv(), cwd: deps.stateDir, baseUrl: deps.baseUrl, isByKey }),
    run: (request, signal) => guardEvents((inner) => turn(request, inner), signal, { toFailure: exceptionToFailure }),
    close: async () => host?.host.close(),
  };
};

/** Asked of a program that waits for it, so that nobody without a login waits for the vendor to refuse them. */
async function isLoggedIn(server: AppServer): Promise<boolean> {
  const { account, requiresOpenaiAuth } = await server.request<{ account: unknown; requiresOpenaiAuth: boolean }>(
    'account/read',
    {},
  );
  return account !== null || !requiresOpenaiAuth;
}

const locate = ({ path, enginesDir, env }: EngineDeps) =>
  findEngine({ id: 'codex', explicit: path, enginesDir, program: 'codex', searchPath: env.PATH, accept: acceptCodex });

const notInstalled = (reason: string): EngineFailure => ({
  code: 'engine_not_installed',
  message: `Codex is not installed (${reason}). Run "./svc engine install codex", or set SVC_CODEX_PATH.`,
  retryable: false,
});

/** What is thrown is either codex's refusal of a request or the end of its process. */
const exceptionToFailure = (error: unknown): EngineFailure => ({
  code: error instanceof RpcError ? 'engine_failed' : 'engine_crashed',
  message: error instanceof Error ? `Codex: ${error.message}` : String(error),
  retryable: !(error instanceof RpcError),
});
