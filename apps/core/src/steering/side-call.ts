import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import type { OutputLimits } from '@svc/engine-kit/output-limits.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { SideCallDeps } from '../engine/check-engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import { asEngineId, type EngineFallback } from '../engine/fallback.ts';
import type { Charge } from '../pricing/pricing.ts';
import { runEngine, type EngineEnding } from '../turn/run-engine.ts';

/** A question to an engine that is no turn. `text`: what of the prompt is a person's own words. */
export type SideCall = {
  purpose: NonNullable<EngineRequest['purpose']>;
  system: string;
  prompt: string;
  text: string;
  /** How much the engine may say: what it says beyond ends the call. */
  output: OutputLimits;
  limitMs: number;
};

/** What the engine said, and what it cost, also when it failed. */
export type SideAnswer = { said: string; ending: EngineEnding; charge: Charge };

type Deps = Pick<SideCallDeps, 'workspaces' | 'pricing' | 'ids' | 'clock'>;

const graceMs = 2000;

/**
 * Asks an engine something beside all turns: without a session, without tools, bounded in time and in what it may say. The
 * caller counts the charge.
 */
export async function sideCall(deps: Deps, active: ActiveEngine, call: SideCall, signal?: AbortSignal): Promise<SideAnswer> {
  let said = '';
  let block = '';
  let usage: TokenUsage | null = null;
  let model = active.choice.model;
  const { limitMs, output } = call;
  const limit = AbortSignal.timeout(limitMs);
  const bounds = {
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    idleMs: limitMs,
    maxMs: limitMs,
    graceMs,
    output,
    clock: deps.clock,
  };
  const ending = await runEngine(active.engine, toRequest(deps, active, call), bounds, (event) => {
    if (event.type === 'delta') block += event.text;
    if (event.type === 'segment') said = event.text === '' ? block : event.text;
    if (event.type === 'usage') usage = event.usage;
    if (event.type === 'session') model = event.model ?? model;
  });
  const charge = deps.pricing.charge({
    usage: usage ?? estimateUsage({ input: call.text, output: said }),
    model,
    engineId: active.engine.id,
    auth: active.auth,
  });
  return { said: said === '' ? block : said, ending, charge };
}

/** What it takes to ask the engine in use, or one that stands in for it. */
export type EnginesDeps = SideCallDeps & {
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: Pick<EngineFallback, 'order' | 'failed' | 'stands'>;
};

type Question<T> = {
  call: SideCall;
  signal?: AbortSignal;
  /** What an engine says of its failure is masked with it: a later turn says why this engine is passed over. */
  redact(text: string): string | Promise<string>;
  counted(charge: Charge): void;
  /** Null when what was said is no answer. */
  read(said: string): T | null | Promise<T | null>;
};

/**
 * A side call to the engine in use. The engines that stand in for it in turns do so here too. Null when none gave an answer.
 * @throws ServiceError with what the last engine failed with.
 */
export async function askEngines<T>(deps: EnginesDeps, { call, signal, redact, counted, read }: Question<T>): Promise<T | null> {
  const { engines, engineFallback: fallback } = deps;
  const first = await engines.active();
  const { ids } = fallback.order(first.choice.id);
  for (const [place, id] of ids.entries()) {
    const active = id === first.choice.id ? first : await engines.open(asEngineId(id));
    const { said, ending, charge } = await sideCall(deps, active, call, signal);
    counted(charge);
    const answer = ending?.type === 'done' ? await read(said) : null;
    if (answer !== null || ending?.type !== 'failed') return answer;
    const failure = { ...ending.failure, message: await redact(ending.failure.message) };
    fallback.failed(id, failure);
    const isLast = place === ids.length - 1;
    if (isLast || !fallback.stands(failure.code)) throw new ServiceError(failure.code, failure.message);
  }
  return null;
}

function toRequest({ ids, workspaces }: Deps, { choice }: ActiveEngine, call: SideCall): EngineRequest {
  const { purpose, system, prompt, text } = call;
  return {
    conversationKey: ids.next(purpose),
    purpose,
    prompt,
    text,
    system,
    attachments: [],
    filesDir: null,
    transcript: [],
    resume: null,
    model: choice.model,
    cwd: workspaces.sideFolder(purpose === 'title' ? 'titles' : purpose),
    trustedFolder: false,
    toolPolicy: 'none',
    toolServers: [],
    facts: { channel: purpose, sender: 'the service', tier: 'GUEST', public: false, channel_context: {} },
  };
}
