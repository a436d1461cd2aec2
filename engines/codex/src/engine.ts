import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { toolPolicies } from '@svc/contract/trust.ts';
import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import { findEngine } from '@svc/engine-kit/engine-path.ts';
import type { CreateEngine, EngineDeps, EngineEvent, EngineFailure, EngineProbe, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { createTemporaryFiles } from '@svc/engine-kit/temporary-files.ts';
import { endMarkedProcesses } from '@svc/service-kit/process/marked-processes.ts';
import { openCodexHome, openEmptyDir, operatorHome } from './codex-home.ts';
import { type CodexHost, createCodexHost, endpointKey } from './codex-host.ts';
import { endpointModels, smallContext } from './endpoint-model.ts';
import { endpointUrl } from './responses-shim.ts';
import { acceptCodex, type CodexProgram } from './find-codex.ts';
import { RpcError } from './json-rpc.ts';
import { createOwnerInstructions, instructionsText, readInstructions } from './instructions.ts';
import { createPolicyCheck, type PolicyCheck, type PolicyFault } from './policy-check.ts';
import { probeCodex } from './probe.ts';
import { runTurn, type TurnOutcome } from './run-turn.ts';
import { openThreadModels } from './thread-models.ts';
import { keyVariable, markVariable, threadParams, type ThreadPlace } from './thread-config.ts';
import { terminalProgram } from './terminal-program.ts';
import { withInstructions } from './with-instructions.ts';
import { notLoggedIn } from './to-failure.ts';

/** The Responses-protocol engine: `codex app-server`, one process for all conversations. */
export const createEngine: CreateEngine = (deps) => {
  let opened: Opened | null = null;
  const run = randomUUID();
  const owner = createOwnerInstructions(deps.env);
  const temporary = createTemporaryFiles(deps);
  const models = openThreadModels(path.join(deps.stateDir, 'thread-models'), deps.log);
  /** For a self-hosted endpoint we send the key ourselves; for the vendor's endpoint the program does. */
  const isByKey = deps.baseUrl === null && (deps.apiKey ?? null) !== null;

  const open = ({ program, packageDir }: CodexProgram): Opened => {
    if (opened !== null) return opened;
    const place = { packageDir, emptyDir: openEmptyDir(deps.stateDir), ownerHome: operatorHome(deps.env) };
    const start = { program, env: programEnv(deps, isByKey), cwd: deps.stateDir };
    const host = createCodexHost({ program, packageDir }, { ...deps, programEnv: start.env, cwd: start.cwd, isByKey });
    const policies = createPolicyCheck({ ...start, log: deps.log, maxLine: deps.maxLine, place });
    return (opened = { host, policies, place });
  };

  async function* turn(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const location = locate(deps);
    if (!location.found) return yield { type: 'failed', failure: notInstalled(location.reason) };
    const { policies } = open(location.value);
    const fault = await policies.run(request.toolPolicy);
    if (fault !== null) return yield { type: 'failed', failure: policyRefused(fault) };
    if (signal.aborted) return yield { type: 'aborted' }; // the check takes time only once
    // A program that was already open and has ended, or no longer answers, is replaced once.
    for (let tries = 0; tries < 2; tries++) {
      if ((yield* attempt(location.value, request, signal)) === 'finished' || signal.aborted) return;
    }
    throw new Error('its program was restarted and ended again. Try again');
  }

  async function* attempt(
    program: CodexProgram,
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, TurnOutcome> {
    temporary.sweepSoon();
    const { host, place } = open(program);
    const { codex, isWarm, release, retire, endOrphans } = await host.acquire();
    try {
      if (!codex.isLoggedIn) {
        retire(); // otherwise it would not notice a login in the next minute
        yield { type: 'failed', failure: notLoggedIn };
        return 'finished';
      }
      // The same for all turns of a conversation, which run one at a time: a thread keeps the settings with which it was loaded.
      const mark = createHash('sha256').update(`${run} ${request.conversationKey}`).digest('hex').slice(0, 32);
      const named = { ...request, model: request.model ?? codex.defaultModel };
      const provider = isByKey ? 'vendor_by_key' : codex.endpoint;
      const endStarted = () => endMarked(mark, deps).then(endOrphans);
      const start = (instructions: string) => {
        const params = threadParams(named, { ...place, catalogs: codex.catalogs, mark }, provider, instructions);
        return runTurn({ ...codex, isWarm, endStarted }, named, params, signal);
      };
      const instructions = { own: await instructionsText(request, owner), common: request.system };
      // A side call has its own thread, which is never resumed.
      const isOnce = request.purpose !== undefined;
      const outcome = yield* isOnce ? start(instructions.common) : withInstructions(start, instructions, models);
      if (outcome === 'server_gone') retire();
      return outcome;
    } finally {
      release();
    }
  }

  return {
    id: 'codex',
    asks: ['dangerous'],
    async probe() {
      const location = locate(deps);
      const env = programEnv(deps, isByKey);
      const probe = await probeCodex({ location, env, cwd: deps.stateDir, baseUrl: deps.baseUrl, isByKey });
      if (!probe.ready || !location.found) return probe;
      return withContext(withPolicies(probe, open(location.value).policies, deps), deps);
    },
    run: (request, signal) => guardEvents((inner) => turn(request, inner), signal, { toFailure: exceptionToFailure }),
    instructions: (request) => readInstructions(request, owner),
    letGo: async (threadId) => opened?.host.letGo(threadId),
    async forget(threadId) {
      if (!uuid.test(threadId)) return;
      const location = locate(deps);
      if (!location.found) throw new Error(notInstalled(location.reason).message);
      await open(location.value).host.remove(threadId);
      await models.forget(threadId);
    },
    async terminal(request) {
      const location = locate(deps);
      if (!location.found) return { problem: notInstalled(location.reason).message };
      const { resume } = request;
      if (resume !== null && !uuid.test(resume)) return { problem: `Codex has no session "${resume}".` };
      return terminalProgram(location.value.program, request, deps, programEnv(deps, isByKey));
    },
    close: async () => void (await Promise.all([opened?.host.close(), opened?.policies.close()])),
  };
};

/** Form of a thread id. Any other word could be read as an option. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The program's environment: its own home, and the operator's login if the turns use it. */
const programEnv = ({ env, stateDir, baseUrl, apiKey }: EngineDeps, isByKey: boolean): Record<string, string> => ({
  ...engineEnv(env, stateDir),
  HOME: openEmptyDir(stateDir),
  CODEX_HOME: openCodexHome(stateDir, { env, sharesLogin: baseUrl === null && !isByKey }),
  ...(isByKey && { [keyVariable]: apiKey?.reveal() ?? '' }),
});

type Opened = { host: CodexHost; policies: PolicyCheck; place: Omit<ThreadPlace, 'catalogs' | 'mark'> };

/** The check continues after the probe: the first turn waits for it, the start of the service does not. */
function withPolicies(probe: EngineProbe, policies: PolicyCheck, { log }: EngineDeps): EngineProbe {
  const runAll = async () => {
    for (const policy of toolPolicies) await policies.run(policy); // one after the other, because each starts a program
  };
  runAll().catch((error: unknown) => log.warn({ err: error }, 'the tools that codex offers to its models could not be checked'));
  const faults = policies.known().map((fault) => policyRefused(fault).message);
  return { ...probe, reason: [probe.reason, ...faults].join(' ') };
}

const endMarked = (mark: string, { log }: EngineDeps): Promise<void> =>
  endMarkedProcesses(markVariable, (value) => value === mark).catch((error: unknown) =>
    log.warn({ err: error }, 'processes that the commands of a turn started could not be searched for'),
  );

/** Warns when a self-hosted model's context is too small for a turn. */
async function withContext(probe: EngineProbe, deps: EngineDeps): Promise<EngineProbe> {
  const { baseUrl } = deps;
  if (baseUrl === null) return probe;
  const models = await endpointModels(endpointUrl(baseUrl).href, endpointKey(baseUrl, deps));
  return { ...probe, reason: [probe.reason, smallContext(models)].filter(Boolean).join(' ') };
}

const locate = ({ path: explicit, enginesDir, env }: EngineDeps) =>
  findEngine({ id: 'codex', explicit, enginesDir, program: 'codex', searchPath: env.PATH, accept: acceptCodex });

const notInstalled = (reason: string): EngineFailure => ({
  code: 'engine_not_installed',
  message: `Codex is not installed (${reason}). Run "./svc engine install codex", or set SVC_CODEX_PATH.`,
  retryable: false,
});

const policyRefused = ({ policy, why, isSure }: PolicyFault): EngineFailure => ({
  code: 'engine_policy_refused',
  message: `Codex does not answer people with the tool policy "${policy}": ${why}. ${isSure ? testedVersion : 'It is checked again in a minute.'}`,
  retryable: !isSure,
});

const testedVersion = 'Install the tested version with "./svc engine install codex".';

/** An exception is either codex's refusal of a request, or the end of its process. */
const exceptionToFailure = (error: unknown): EngineFailure => ({
  code: error instanceof RpcError ? 'engine_failed' : 'engine_crashed',
  message: error instanceof Error ? `Codex: ${error.message}` : String(error),
  retryable: !(error instanceof RpcError),
});
