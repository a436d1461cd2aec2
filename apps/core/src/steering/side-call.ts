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
import type { SenderOf } from '../spend/budgets.ts';
import type { Spend } from '../spend/spend.ts';
import { runEngine, type EngineEnding } from '../turn/run-engine.ts';

/** A request to an engine outside of turns. `text`: the part of the prompt that a person wrote. */
export type SideCall = {
  purpose: NonNullable<EngineRequest['purpose']>;
  system: string;
  prompt: string;
  text: string;
  /** The output limit: the call ends when the engine exceeds it. */
  output: OutputLimits;
  limitMs: number;
};

/** The engine's output and cost, also after a failure. */
export type SideAnswer = { said: string; ending: EngineEnding; charge: Charge };

type Deps = Pick<SideCallDeps, 'workspaces' | 'pricing' | 'ids' | 'clock'>;

const graceMs = 2000;

/** Calls an engine outside of turns: without a session, without tools, and with limits on time and output. The caller counts the charge. */
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

type Payer = Parameters<Spend['check']>[0];

/** A program of the operator, which has limits but no identity here. */
export const operatorProgram = { principal_id: null, principal_key: null, trust_tier: 'SACRED' } satisfies Payer;

/** @throws ServiceError `forbidden` when a spending limit is reached: the call is not made. */
export function checkLimit(spend: Pick<Spend, 'check'>, payer: Payer, sender?: SenderOf): void {
  const verdict = spend.check(payer, false, sender);
  if (!verdict.allowed) throw new ServiceError('forbidden', verdict.reply, { details: { reason: 'spending_limit' } });
}

/** What is needed to call the engine in use or one of its fallbacks. */
export type EnginesDeps = SideCallDeps & {
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: Pick<EngineFallback, 'order' | 'failed' | 'stands'>;
};

type Question<T> = {
  call: SideCall;
  signal?: AbortSignal;
  /** Masks an engine's error message: a later turn shows it as the reason for the fallback. */
  redact(text: string): string | Promise<string>;
  counted(charge: Charge): void;
  /** Null when the output is not a valid answer. */
  read(said: string): T | null | Promise<T | null>;
};

/**
 * Makes a side call to the engine in use, with the same fallbacks as for turns. Null when no engine gave a valid answer.
 * @throws ServiceError with the last engine's error.
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
