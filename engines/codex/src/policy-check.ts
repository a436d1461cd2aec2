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

/** Why turns of a policy are refused. `isSure`: it was seen, and not only that the check could not be done. */
export type PolicyFault = { policy: ToolPolicy; why: string; isSure: boolean };

/**
 * Whether the installed codex keeps to a tool policy: what it offers each of its models is read from requests of its own that a
 * stand-in for the model receives. Done once for each version of the program and of our settings; the result is kept in a file.
 * Each policy is checked by itself, so that one that fails holds up no turn of another one.
 */
export type PolicyCheck = {
  /** Does the check where that has not been done; rejects when the program does not start. */
  run(policy: ToolPolicy): Promise<PolicyFault | null>;
  /** What is known by now. */
  known(): PolicyFault[];
  /** Ends the checks that run. */
  close(): Promise<void>;
};

type Deps = Omit<AppServerSpec, 'catalog'> & { place: Omit<ThreadPlace, 'catalogs' | 'mark'> };
type Checked = { catalog: string; fault: Promise<PolicyFault | null>; until: number };

const limitMs = 20_000;
/** A check that could not be done is not repeated for each turn. */
const retryMs = 60_000;
/** Models that the program has no entry for get what is left. */
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
      if (ending.signal.aborted) return { policy, why: 'the engine is closed', isSure: false };
      // Asked each time: the program may have been replaced in its place.
      const catalogs = await openModelCatalogs(deps);
      const last = checks.get(policy);
      return last?.catalog === catalogs.reader && performance.now() < last.until ? last.fault : begin(policy, catalogs);
    },
    known: () => [...known.values()],
    async close() {
      ending.abort();
      await Promise.allSettled(Array.from(checks.values(), ({ fault }) => fault)); // callers have the failure
    },
  };
}

const toFault = (policy: ToolPolicy, why: string | null): PolicyFault | null =>
  why === null ? null : { policy, why, isSure: true };

/** What an earlier check has found; null when there was no check, or its file cannot be read: then the check is done again. */
function readKept(file: string): { why: string | null } | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { why?: unknown } | null;
    return kept?.why === null || typeof kept?.why === 'string' ? { why: kept.why } : null;
  } catch {
    return null;
  }
}

/** The settings of a policy as a name: other settings are checked again. */
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

/** What was seen of one model counts more than that another one could not be asked. */
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

/** What a model is offered in a first turn of this policy. */
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
