import type { Identity } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { estimateUsage } from '@svc/engine-kit/token-estimate.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../../context.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { ActiveEngine } from '../../engine/engine-registry.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { Charge } from '../../pricing/pricing.ts';
import { createEventRenderer, type Rendered } from '../event-renderer.ts';
import { runEngine, type EngineEnding } from '../run-engine.ts';
import type { Turn, TurnIo } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

/** What came of the reasoning turn. `text` has passed redaction already, piece by piece. */
export type Reply = {
  ending: 'done' | 'silent' | 'aborted';
  text: string;
  usage: TokenUsage;
  model: string | null;
  redactor: Redactor;
};

export type Reasoning = { turn: Turn; identity: Identity; prompt: Prompt; session: OpenSession; active: ActiveEngine };

type Deps = Pick<CoreContext, 'settings' | 'clock' | 'sessions' | 'knownSecrets' | 'events' | 'pricing' | 'spend'>;

const abortGraceMs = 5000;
/** A stopping service gives its turns a quarter of its time to end: an engine that does not listen gets less than that. */
const graceShare = 1 / 5;

/**
 * Runs the engine for one turn: everything it says goes to the sink through redaction, its resume id is kept as soon
 * as it is known, its usage is counted however it ends.
 * @throws ServiceError with an `engine_…` code when the engine fails.
 */
export async function reason(deps: Deps, reasoning: Reasoning, { sink, signal }: TurnIo): Promise<Reply> {
  const { turn, active } = reasoning;
  const redactor = deps.knownSecrets.redactor();
  const renderer = createEventRenderer({
    ...reasoning,
    sink,
    redactor,
    events: deps.events,
    sessions: deps.sessions,
    clock: deps.clock,
  });
  const bounds = {
    signal,
    idleMs: deps.settings.turnIdleMs,
    maxMs: deps.settings.turnMaxMs,
    clock: deps.clock,
    graceMs: Math.min(abortGraceMs, deps.settings.stopTimeoutMs * graceShare),
  };
  const ending = await runEngine(active.engine, toRequest(reasoning), bounds, renderer.take);
  const { text, usage, model, silent, engineSessionId } = await renderer.finish();
  const charge = deps.pricing.charge({
    usage: usage ?? estimateUsage({ input: turn.envelope.content.text, output: text }),
    model: model ?? active.choice.model,
    engineId: active.engine.id,
    auth: active.auth,
  });
  await countUsage(deps, reasoning, charge, engineSessionId);
  if (ending === null || ending.type === 'failed') throw toError(ending, active.engine.id, redactor.text);
  return {
    ending: ending.type === 'aborted' ? 'aborted' : silent ? 'silent' : 'done',
    text,
    usage: charge.usage,
    model,
    redactor,
  };
}

function toRequest({ turn, identity, prompt, session, active }: Reasoning): EngineRequest {
  const { envelope } = turn;
  return {
    conversationKey: envelope.conversation_key,
    prompt: prompt.text,
    text: envelope.content.text,
    system: prompt.system,
    attachments: envelope.content.attachments ?? [],
    transcript: session.turns === 0 ? prompt.transcript : [],
    resume: session.engine_session_id,
    model: active.choice.model,
    cwd: session.cwd ?? '',
    toolPolicy: identity.tool_policy,
    toolServers: [],
    facts: {
      channel: envelope.channel,
      sender: identity.display_name,
      tier: identity.trust_tier,
      public: envelope.public === true,
      channel_context: envelope.channel_context ?? {},
    },
  };
}

/** Aborted and failed turns have cost something too: they are counted like any other. */
async function countUsage(
  { sessions, events, spend }: Deps,
  { turn, identity, session }: Reasoning,
  charge: Charge,
  engineSessionId: Rendered['engineSessionId'],
) {
  const { usage, model } = charge;
  events.tokenUsage(turn, identity, charge);
  spend.add(identity, usage.cost_usd);
  await sessions.addTurn(session, {
    engine_session_id: engineSessionId,
    input_tokens: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    output_tokens: usage.output_tokens,
    cost_usd: usage.cost_usd,
    model,
  });
}

function toError(
  ending: Extract<EngineEnding, { type: 'failed' }> | null,
  engineId: string,
  redact: (text: string) => string,
): ServiceError {
  if (ending === null) {
    return new ServiceError('engine_crashed', `The engine ${engineId} ended without an answer. Send the message again.`);
  }
  const { code, message, retryable, retryAfterMs } = ending.failure;
  const retryAfter = retryAfterMs === undefined ? {} : { retry_after_s: Math.ceil(retryAfterMs / 1000) };
  return new ServiceError(code, redact(message), { details: { retryable, ...retryAfter } });
}
