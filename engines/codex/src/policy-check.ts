import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { inTime } from '@svc/service-kit/within.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { startAppServer, type AppServer, type AppServerSpec } from './app-server.ts';
import type { Thread } from './codex-messages.ts';
import { openModelCatalogs, parseModels, type ModelCatalogs } from './model-catalog.ts';
import { forbiddenTools, offeredTools } from './offered-tools.ts';
import { startRequestRecorder, type RequestRecorder } from './request-recorder.ts';
import { threadParams, type Endpoint, type ThreadPlace } from './thread-config.ts';

/** Why turns of a policy are refused. `isSure`: a violation was observed, not merely a check that failed. */
export type PolicyFault = { policy: ToolPolicy; why: string; isSure: boolean };

/**
 * Checks that the installed codex enforces the tool policies: a stand-in for the model receives codex's real requests, which show what it
 * offers each of its models. Done once for each version of the program and of our settings; the result is stored in a file. Each policy is
 * checked separately, so that a failure does not affect turns of another one.
 */
export type PolicyCheck = {
  /** Runs the check unless it was done; rejects when the program does not start. */
  run(policy: ToolPolicy): Promise<PolicyFault | null>;
  /** The results so far. */
  known(): PolicyFault[];
  /** Ends running checks. */
  close(): Promise<void>;
};

type Deps = Omit<AppServerSpec, 'catalog'> & { place: Omit<ThreadPlace, 'catalogs' | 'mark'> };
type Checked = { catalog: string; fault: Promise<PolicyFault | null>; until: number };

const limitMs = 20_000;
/** A failed check is not repeated for each turn. */
const retryMs = 60_000;
/** Stands for all models of which the program has no description. */
const unknownModel = 'some-other-model';

export function createPolicyCheck(deps: Deps): PolicyCheck {
  const checks = new Map<ToolPolicy, Checked>();
  const known = new Map<ToolPolicy, PolicyFault>();
  const ending = new AbortController();

  const check = async (policy: ToolPolicy, catalogs: ModelCatalogs): Promise<PolicyFault | null> => {
    const place = { ...deps.place, catalogs, mark: 'check' };
    const file = path.join(deps.cwd, `policy-${policy}-${editionOf(policy, place)}.json`);
    const kept = readKept(file);
    const fault = kept === null ? await askPolicy(deps, { policy, place }, ending.signal) : toFault(policy, kept.why);
    if (kept === null && fault?.isSure !== false) writeFileAtomic(file, JSON.stringify({ why: fault?.why ?? null }));
    known.delete(policy);
    if (fault !== null) {
      known.set(policy, fault);
      if (!ending.signal.aborted) deps.log.warn(fault, 'codex could not be verified to respect a tool policy');
    }
    return fault;
  };

  const begin = (policy: ToolPolicy, catalogs: ModelCatalogs): Promise<PolicyFault | null> => {
    const begun: Checked = { catalog: catalogs.reader, fault: check(policy, catalogs), until: Infinity };
    checks.set(policy, begun);
    begun.fault.then(
      (fault) => (begun.until = fault?.isSure === false ? performance.now() + retryMs : Infinity),
      () => (begun.until = 0), // the next turn tries again
    );
    return begun.fault;
  };

  return {
    async run(policy) {
      const closed = { policy, why: 'the engine is closed', isSure: false };
      if (ending.signal.aborted) return closed;
      // Read each time, because the program may have been replaced in place.
      const catalogs = await openModelCatalogs(deps);
      if (ending.signal.aborted) return closed;
      const last = checks.get(policy);
      return last?.catalog === catalogs.reader && performance.now() < last.until ? last.fault : begin(policy, catalogs);
    },
    known: () => [...known.values()],
    async close() {
      ending.abort();
      await Promise.allSettled(Array.from(checks.values(), ({ fault }) => fault)); // the callers get the failure
    },
  };
}

const toFault = (policy: ToolPolicy, why: string | null): PolicyFault | null =>
  why === null ? null : { policy, why, isSure: true };

/** The result of an earlier check; null when there is none or its file cannot be read, so that the check is repeated. */
function readKept(file: string): { why: string | null } | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { why?: unknown } | null;
    return kept?.why === null || typeof kept?.why === 'string' ? { why: kept.why } : null;
  } catch {
    return null;
  }
}

/** Identifies the settings of a policy, so that other settings are checked again. */
const editionOf = (policy: ToolPolicy, place: ThreadPlace): string =>
  createHash('sha256')
    .update(JSON.stringify(threadParams(dryRun(policy, unknownModel, place.emptyDir), place, stub(''))))
    .digest('hex')
    .slice(0, 16);

type Asked = { policy: ToolPolicy; place: ThreadPlace };

async function askPolicy(deps: Deps, asked: Asked, ending: AbortSignal): Promise<PolicyFault | null> {
  const recorder = await startRequestRecorder();
  try {
    const server = await startAppServer({ ...deps, catalog: asked.place.catalogs.reader });
    const end = () => void server.kill();
    ending.addEventListener('abort', end, { once: true });
    if (ending.aborted) end();
    try {
      return await askModels({ server, recorder, ...asked });
    } finally {
      ending.removeEventListener('abort', end);
      await server.kill();
    }
  } finally {
    await recorder.close();
  }
}

type Asking = Asked & { server: AppServer; recorder: RequestRecorder };

/** A violation of one model takes precedence over a failure to check another one. */
async function askModels(asking: Asking): Promise<PolicyFault | null> {
  const faults = await Promise.all(modelsOf(asking.place.catalogs).map((model) => askModel(asking, model)));
  return faults.find((fault) => fault?.isSure === true) ?? faults.find((fault) => fault !== null) ?? null;
}

const modelsOf = ({ reader }: ModelCatalogs): string[] => [
  ...parseModels(readFileSync(reader, 'utf8')).map((model) => String(model.slug)),
  unknownModel,
];

async function askModel(asking: Asking, model: string): Promise<PolicyFault | null> {
  const { policy, server } = asking;
  const gone = server.ended.then(({ reason }) => Promise.reject(new Error(reason)));
  try {
    const offered = await inTime(Promise.race([toolsFor(asking, model), gone]), limitMs, tooSlow);
    const forbidden = forbiddenTools(policy, offered);
    if (forbidden.length === 0) return null;
    return { policy, why: `this version offers ${forbidden.join(', ')} to ${model}, which it forbids`, isSure: true };
  } catch (error) {
    return { policy, why: `the tools that it offers to ${model} could not be checked: ${errorText(error)}`, isSure: false };
  }
}

const tooSlow = (): never => {
  throw new Error(`it took longer than ${limitMs / 1000} s`);
};

/** The tools offered to a model in the first turn of this policy. */
async function toolsFor({ server, recorder, place, policy }: Asking, model: string): Promise<string[]> {
  const params = threadParams(dryRun(policy, model, place.emptyDir), place, stub(recorder.urlOf(model)));
  const { thread } = await server.request<Thread>('thread/start', { ...params, ephemeral: true });
  await server.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
  return offeredTools(await recorder.bodyOf(model));
}

const stub = (url: string): Endpoint => ({ url, token: 'none' });

const dryRun = (toolPolicy: ToolPolicy, model: string, dir: string): EngineRequest => ({
  conversationKey: 'check',
  prompt: 'hi',
  text: 'hi',
  system: 'You are checked.',
  attachments: [],
  filesDir: null,
  transcript: [],
  resume: null,
  model,
  cwd: dir,
  trustedFolder: false,
  toolPolicy,
  toolServers: [],
  facts: { channel: 'check', sender: 'the service', tier: 'GUEST', public: false, channel_context: {} },
});
