import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toolPolicies, type ToolPolicy } from '@svc/contract/trust.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { within } from '@svc/service-kit/process/process-group.ts';
import { startAppServer, type AppServer, type AppServerSpec } from './app-server.ts';
import type { Thread } from './codex-messages.ts';
import { openModelCatalogs, parseModels, type ModelCatalogs } from './model-catalog.ts';
import { forbiddenTools, offeredTools } from './offered-tools.ts';
import { startRequestRecorder, type RequestRecorder } from './request-recorder.ts';
import { threadParams, type Endpoint, type ThreadPlace } from './thread-config.ts';

/** Why turns of a policy are refused, for each policy that does not hold. */
export type PolicyFaults = Partial<Record<ToolPolicy, string>>;

/**
 * Whether the installed codex keeps to the tool policies: what it offers each of its models is read from requests of its own that a
 * stand-in for the model receives. Done once for each version of the program and of our settings; the result is kept in a file.
 */
export type PolicyCheck = {
  /** Does the check where that has not been done; rejects when it cannot be done. */
  run(): Promise<PolicyFaults>;
  /** What is known by now. */
  known(): PolicyFaults;
  /** Waits for a check that runs. */
  close(): Promise<void>;
};

type Deps = Omit<AppServerSpec, 'catalog'> & { place: Omit<ThreadPlace, 'catalogs' | 'mark'> };

const limitMs = 20_000;
/** Models that the program has no entry for get what is left. */
const unknownModel = 'some-other-model';

export function createPolicyCheck(deps: Deps): PolicyCheck {
  let last: { catalog: string; faults: Promise<PolicyFaults> } | null = null;
  let known: PolicyFaults = {};

  const check = async (catalogs: ModelCatalogs): Promise<PolicyFaults> => {
    const file = path.join(deps.cwd, `policies-${editionOf({ ...deps.place, catalogs, mark: 'check' })}.json`);
    const isKnown = existsSync(file);
    known = isKnown ? (JSON.parse(readFileSync(file, 'utf8')) as PolicyFaults) : await askAll(deps, catalogs);
    if (!isKnown) writeFileAtomic(file, JSON.stringify(known));
    if (Object.keys(known).length > 0) deps.log.warn({ faults: known }, 'codex does not keep to every tool policy');
    return known;
  };

  const begin = (catalogs: ModelCatalogs): Promise<PolicyFaults> => {
    const begun = { catalog: catalogs.reader, faults: check(catalogs) };
    begun.faults.catch(() => {
      if (last === begun) last = null; // the next turn tries again
    });
    return (last = begun).faults;
  };

  return {
    async run() {
      // Asked each time: the program may have been replaced in its place.
      const catalogs = await openModelCatalogs(deps);
      return last?.catalog === catalogs.reader ? last.faults : begin(catalogs);
    },
    known: () => known,
    close: async () => void (await last?.faults.catch(() => undefined)), // its failure was told to those who asked
  };
}

/** The settings of all policies as a name: other settings are checked again. */
const editionOf = (place: ThreadPlace): string =>
  createHash('sha256')
    .update(
      JSON.stringify(toolPolicies.map((policy) => threadParams(dryRun(policy, unknownModel, place.emptyDir), place, stub('')))),
    )
    .digest('hex')
    .slice(0, 16);

async function askAll(deps: Deps, catalogs: ModelCatalogs): Promise<PolicyFaults> {
  const recorder = await startRequestRecorder();
  const server = await startAppServer({ ...deps, catalog: catalogs.reader }).catch(async (error: unknown) => {
    await recorder.close();
    throw error;
  });
  const asking = { server, recorder, place: { ...deps.place, catalogs, mark: 'check' }, models: modelsOf(catalogs) };
  const faults: PolicyFaults = {};
  try {
    const work = (async () => {
      for (const policy of toolPolicies) Object.assign(faults, await askPolicy(asking, policy));
    })();
    if (!(await within(work, limitMs))) throw new Error(`its check took longer than ${limitMs / 1000} s`);
    await work;
    return faults;
  } finally {
    await Promise.all([server.kill(), recorder.close()]);
  }
}

const modelsOf = ({ reader }: ModelCatalogs): string[] => [
  ...parseModels(readFileSync(reader, 'utf8')).map((model) => String(model.slug)),
  unknownModel,
];

type Asking = { server: AppServer; recorder: RequestRecorder; place: ThreadPlace; models: string[] };

async function askPolicy(asking: Asking, policy: ToolPolicy): Promise<PolicyFaults> {
  const answers = await Promise.all(
    asking.models.map(async (model) => ({ model, forbidden: forbiddenTools(policy, await toolsFor(asking, policy, model)) })),
  );
  const worst = answers.find(({ forbidden }) => forbidden.length > 0);
  if (worst === undefined) return {};
  return {
    [policy]: `this version offers ${worst.forbidden.join(', ')} to ${worst.model}, which the tool policy "${policy}" forbids`,
  };
}

/** What a model is offered in a first turn of this policy. */
async function toolsFor({ server, recorder, place }: Asking, policy: ToolPolicy, model: string): Promise<string[]> {
  const name = `${policy}-${model}`;
  const params = threadParams(dryRun(policy, model, place.emptyDir), place, stub(recorder.urlOf(name)));
  const { thread } = await server.request<Thread>('thread/start', { ...params, ephemeral: true });
  await server.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
  return offeredTools(await recorder.bodyOf(name));
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
