import { mkdirSync } from 'node:fs';
import { findEngine } from '@svc/engine-kit/engine-path.ts';
import type { CreateEngine, EngineDeps, EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { withTitleModel } from '@svc/engine-kit/turn-text.ts';
import type { LineProcess } from '@svc/engine-kit/line-process.ts';
import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';
import { acceptGemini } from './find-gemini.ts';
import { readInstructions } from './instructions.ts';
import { terminalArgs, terminalEnv } from './launch.ts';
import { type ModelRelay, startModelRelay } from './model-relay.ts';
import { titleModel } from './pin.ts';
import { probeGemini } from './probe.ts';
import { runTurn } from './run-turn.ts';
import { knownHome, newHome, removeHome, sessionsDir, sweepOnce } from './session-home.ts';
import { openTerminalHome } from './terminal-home.ts';
import { noKey } from './to-failure.ts';

const vendorUrl = 'https://generativelanguage.googleapis.com';

/** The Gemini engine: one process of the vendor's program per turn, with a relay in front of the model service. */
export const createEngine: CreateEngine = (deps) => {
  const running = new Set<LineProcess>();
  let relay: Promise<ModelRelay> | null = null;
  let swept: Promise<void> | null = null;
  mkdirSync(sessionsDir(deps.stateDir), { recursive: true, mode: 0o700 });

  const openRelay = () => {
    relay ??= startModelRelay({ baseUrl: deps.baseUrl ?? vendorUrl, apiKey: keyFor(deps), env: deps.env }).catch(
      (error: unknown) => {
        relay = null; // it may work for the next turn
        throw error;
      },
    );
    return relay;
  };

  async function* turn(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const location = locate(deps);
    if (!location.found) return yield { type: 'failed', failure: notInstalled(location.reason) };
    if (deps.baseUrl === null && keyFor(deps) === null) return yield { type: 'failed', failure: noKey };
    swept ??= sweepOnce(deps.stateDir).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'old session folders of gemini could not be removed'),
    );
    await swept;
    const turnDeps = { ...deps, install: location.value, relay: await openRelay(), running };
    const known = request.resume === null ? null : knownHome(deps.stateDir, request.resume);
    if (known !== null && (yield* runTurn(turnDeps, request, known, signal)) === 'finished') return;
    if (request.resume !== null) yield unknownSession(request.resume);
    yield* runTurn(turnDeps, request, newHome(deps.stateDir, request), signal);
  }

  return {
    id: 'gemini',
    probe: () => Promise.resolve(probeGemini({ ...deps, location: locate(deps), hasKey: keyFor(deps) !== null })),
    run: (request, signal) =>
      guardEvents((inner) => turn(withTitleModel(request, deps.baseUrl, titleModel), inner), signal, {
        toFailure: exceptionToFailure,
      }),
    instructions: (request) => readInstructions(request, deps.env.GEMINI_CLI_HOME ?? deps.env.HOME),
    async terminal({ resume, cwd, model }) {
      const location = locate(deps);
      if (!location.found) return { problem: notInstalled(location.reason).message };
      if (deps.baseUrl === null && keyFor(deps) === null) return { problem: noKey.message };
      const home = await openTerminalHome(deps.stateDir, resume, cwd);
      if (home === null) return { problem: `Gemini has no session "${resume}".` };
      const argv = [process.execPath, location.value.script, ...terminalArgs(home, model)] as const;
      return { argv, env: terminalEnv(deps, home, keyFor(deps)), engineSessionId: home.id };
    },
    forget: (sessionId) => removeHome(deps.stateDir, sessionId),
    async close() {
      await Promise.all([...running].map((child) => child.stop()));
      await (await relay)?.close();
    },
  };
};

const locate = ({ path, enginesDir, env }: EngineDeps) =>
  findEngine({ id: 'gemini', explicit: path, enginesDir, program: 'gemini', searchPath: env.PATH, accept: acceptGemini });

/** Only the vendor or a remote endpoint gets a key, never a server on this machine. */
function keyFor({ baseUrl, env, apiKey }: EngineDeps): string | null {
  return baseUrl !== null && isLoopbackUrl(baseUrl) ? null : apiKey?.reveal() || env.GEMINI_API_KEY || null;
}

const unknownSession = (id: string): EngineEvent => ({
  type: 'notice',
  code: 'session_unknown',
  message: `Gemini no longer has the session ${id}; a new one was started.`,
});

const notInstalled = (reason: string): EngineFailure => ({
  code: 'engine_not_installed',
  message: `Gemini CLI is not installed (${reason}). Run "./svc engine install gemini", or set SVC_GEMINI_PATH.`,
  retryable: false,
});

const exceptionToFailure = (error: unknown): EngineFailure => ({
  code: 'engine_crashed',
  message: `Gemini: ${error instanceof Error ? error.message : String(error)}`,
  retryable: true,
});
