import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import { findEngine } from '@svc/engine-kit/engine-path.ts';
import type { CreateEngine, EngineDeps, EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { openCodexHome } from './codex-home.ts';
import { createCodexHost, type CodexHost } from './codex-host.ts';
import { acceptCodex, type CodexProgram } from './find-codex.ts';
import { RpcError } from './json-rpc.ts';
import { probeCodex } from './probe.ts';
import { runTurn } from './run-turn.ts';
import { threadParams } from './thread-config.ts';

/** The Responses-protocol engine: `codex app-server`, one process for all conversations. */
export const createEngine: CreateEngine = (deps) => {
  let host: { program: CodexProgram; host: CodexHost } | null = null;
  const programEnv = () => ({
    ...engineEnv(deps.env, deps.stateDir),
    CODEX_HOME: openCodexHome(deps.stateDir, { env: deps.env, sharesLogin: deps.baseUrl === null }),
  });

  const openHost = (program: CodexProgram): CodexHost => {
    host ??= { program, host: createCodexHost(program, { ...deps, programEnv: programEnv(), cwd: deps.stateDir }) };
    return host.host;
  };

  async function* turn(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const location = locate(deps);
    if (!location.found) return yield { type: 'failed', failure: notInstalled(location.reason) };
    const { codex, release } = await openHost(location.value).acquire();
    try {
      const named = { ...request, model: request.model ?? codex.defaultModel };
      yield* runTurn(codex, named, threadParams(named, location.value, codex.endpoint), signal);
    } finally {
      release();
    }
  }

  return {
    id: 'codex',
    probe: () => probeCodex({ location: locate(deps), env: programEnv(), cwd: deps.stateDir, baseUrl: deps.baseUrl }),
    run: (request, signal) => guardEvents((inner) => turn(request, inner), signal, { toFailure: exceptionToFailure }),
    close: async () => host?.host.close(),
  };
};

const locate = ({ path, enginesDir, env }: EngineDeps) =>
  findEngine({ id: 'codex', explicit: path, enginesDir, program: 'codex', searchPath: env.PATH, accept: acceptCodex });

const notInstalled = (reason: string): EngineFailure => ({
  code: 'engine_not_installed',
  message: `Codex is not installed (${reason}). Install it, or set SVC_CODEX_PATH.`,
  retryable: false,
});

/** What is thrown is either codex's refusal of a request or the end of its process. */
const exceptionToFailure = (error: unknown): EngineFailure => ({
  code: error instanceof RpcError ? 'engine_failed' : 'engine_crashed',
  message: error instanceof Error ? `Codex: ${error.message}` : String(error),
  retryable: !(error instanceof RpcError),
});
