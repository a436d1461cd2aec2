import type { Identity } from '@svc/contract/trust.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineEvent, EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { ActiveEngine } from '../../engine/engine-pool.ts';
import { noTools, type TurnTools } from '../../tool-server/tool-servers.ts';
import { createEventRenderer, type EventRenderer } from '../event-renderer.ts';
import { runEngine, type Bounds, type EngineEnding } from '../run-engine.ts';
import type { RunFailure } from '../run-limits.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { turnRedactor } from '../turn-redactor.ts';
import type { Turn, TurnIo } from '../turn.ts';
import { askFields, openAsker, type AskPersonDeps, type TurnAsker } from './ask-person.ts';
import type { Prompt } from './build-prompt.ts';
import type { Used } from './count-usage.ts';
import type { TurnSession } from './open-session.ts';

/** The result of the reasoning step. `text` was already masked, piece by piece. */
export type Reply = {
  ending: 'done' | 'silent' | 'aborted';
  text: string;
  usage: TokenUsage;
  model: string | null;
  /** What `text` is masked with. */
  redactor: Redactor;
  /** For the operator: tool servers that were unavailable, a reply that was cut. */
  warnings: string[];
};

/** The engine has failed. `shown`: what the turn has shown of it; unknown when it stopped without reporting an end. */
export type Failed = { ending: 'failed'; failure: RunFailure; shown: 'nothing' | 'something' | 'unknown' };

/** The result of one run of an engine, with its usage, which is not counted yet. */
export type Reasoned = { outcome: Reply | Failed; used: Used };

export type Reasoning = {
  turn: Turn;
  identity: Identity;
  prompt: Prompt;
  session: TurnSession;
  active: ActiveEngine;
};

type Deps = AskPersonDeps &
  Pick<TurnDeps, 'settings' | 'clock' | 'sessions' | 'knownSecrets' | 'events' | 'pricing' | 'toolServers' | 'log'>;

const abortGraceMs = 5000;
/** A stopping service gives its turns a quarter of its time to end; an engine that does not react gets less than that. */
const graceShare = 1 / 5;

/**
 * Runs the engine for one turn: all its output goes to the sink through redaction, and its resume id is stored as soon
 * as it is known.
 */
export async function reason(deps: Deps, reasoning: Reasoning, io: TurnIo): Promise<Reasoned> {
  const { turn, identity, active } = reasoning;
  // Most turns have no tool server that must be notified of their end, and a signal is not cheap.
  let end: AbortController | null = null;
  const asker = openAsker(deps, reasoning, io);
  const asking = {
    turn,
    identity,
    ask: asker.ask,
    get ended() {
      return (end ??= new AbortController()).signal;
    },
  };
  try {
    const { text } = turn.envelope.content;
    const tools = active.engine.usesTools?.(text) === false ? noTools : await deps.toolServers.serversFor(asking);
    return await reasonWith({ tools, asker }, deps, reasoning, io);
  } finally {
    (end as AbortController | null)?.abort('the turn is over');
  }
}

/** Failures before a model is called: such a turn costs nothing, and that is known. */
const asksNoModel = new Set<RunFailure['code']>([
  'engine_not_installed',
  'engine_not_logged_in',
  'engine_api_key_refused',
  'engine_auth_failed',
  'engine_endpoint_down',
]);
const nothingUsed: TokenUsage = { ...estimateUsage({ input: '', output: '' }), estimated: false, cost_usd: 0 };

type Means = { tools: TurnTools; asker: TurnAsker };

/** Called once the tool servers, and the secrets that were resolved for them, are known. */
async function reasonWith(means: Means, deps: Deps, reasoning: Reasoning, { sink, signal }: TurnIo): Promise<Reasoned> {
  const { turn, identity, session, active } = reasoning;
  const redactor = () => turnRedactor(deps, turn);
  const renderer = createEventRenderer({
    ...reasoning,
    sink,
    redactor,
    events: deps.events,
    sessions: deps.sessions,
    clock: deps.clock,
    maxToolChars: deps.settings.maxToolChars,
    onToolServerMissing: means.tools.onMissing,
  });
  const { ending, shown } = await runToEnd({ ...means, renderer }, deps, reasoning, signal);
  const { text, usage, model, silent, engineSessionId, warnings, redactor: streamedWith } = await renderer.finish();
  if (warnings.length > 0) deps.log.warn({ turn: turn.id, engine: active.engine.id, warnings }, 'a turn had warnings');
  const failure = failureOf(ending, active.engine.id, redactor().text);
  const hasAsked = failure === null || shown !== 'nothing' || !asksNoModel.has(failure.code);
  const charge = deps.pricing.charge({
    usage: usage ?? (hasAsked ? estimateUsage({ input: turn.envelope.content.text, output: text }) : nothingUsed),
    model: model ?? active.choice.model,
    engineId: active.engine.id,
    auth: active.auth,
  });
  const used = { turn, identity, session, charge, isReported: usage !== null, engineSessionId };
  if (failure !== null) return { outcome: { ending: 'failed', failure, shown }, used };
  const outcome: Reply = {
    ending: ending?.type === 'aborted' ? 'aborted' : silent ? 'silent' : 'done',
    text,
    usage: charge.usage,
    model,
    redactor: streamedWith,
    warnings,
  };
  return { outcome, used };
}

/** Runs the engine until it ends or exceeds its output limit. The text before that limit still counts as the answer. */
async function runToEnd(
  { tools, asker, renderer }: Means & { renderer: EventRenderer },
  deps: Deps,
  reasoning: Reasoning,
  signal: AbortSignal,
): Promise<{ ending: EngineEnding } & Pick<Failed, 'shown'>> {
  const { turn, identity, active } = reasoning;
  for (const { name, reason: why } of tools.missing) await renderer.take(toolServerMissing(name, why));
  const request = toRequest(reasoning, tools.servers, asker);
  let isTouched = false;
  const ended = await runEngine(active.engine, request, boundsOf(deps, asker, signal), (event) => {
    isTouched ||= shows.has(event.type);
    return renderer.take(event);
  }).finally(asker.end);
  if (ended?.type === 'done') tools.onDone();
  const shown = ended === null ? 'unknown' : isTouched ? 'something' : 'nothing';
  const tooMuch = tooLarge(ended);
  if (tooMuch === null) return { ending: ended, shown };
  const isCut = await renderer.cut(tooMuch.message);
  deps.events.engineNotice(turn, identity, { ...tooMuch, engineId: active.engine.id });
  return { ending: isCut ? { type: 'done' } : ended, shown };
}

const boundsOf = ({ settings, clock }: Deps, person: TurnAsker, signal: AbortSignal): Bounds => ({
  signal,
  idleMs: settings.turnIdleMs,
  maxMs: settings.turnMaxMs,
  output: { reply: settings.maxReplyChars, tool: settings.maxToolChars, turn: settings.maxTurnChars },
  clock,
  person,
  graceMs: Math.min(abortGraceMs, settings.stopTimeoutMs * graceShare),
});

const tooLarge = (ending: EngineEnding): RunFailure | null =>
  ending?.type === 'failed' && ending.failure.code === 'engine_output_too_large' ? ending.failure : null;

function toRequest(reasoning: Reasoning, toolServers: ToolServer[], asker: TurnAsker): EngineRequest {
  const { turn, identity, prompt, session, active } = reasoning;
  const { envelope } = turn;
  return {
    conversationKey: envelope.conversation_key,
    prompt: prompt.text,
    text: envelope.content.text,
    system: prompt.system,
    attachments: prompt.attachments,
    get filesDir() {
      return prompt.filesDir();
    },
    transcript: session.engine_session_id === null ? prompt.transcript : [],
    resume: session.engine_session_id,
    model: active.choice.model,
    cwd: session.cwd ?? '',
    trustedFolder: session.trustedFolder,
    ...askFields(reasoning, asker),
    toolServers,
    facts: {
      channel: envelope.channel,
      sender: identity.display_name,
      tier: identity.trust_tier,
      public: envelope.public === true,
      channel_context: envelope.channel_context ?? {},
    },
  };
}

/** Events after which a turn cannot go to another engine any more. */
const shows = new Set<EngineEvent['type']>(['delta', 'segment', 'thinking', 'tool', 'tool_result']);

function failureOf(ending: EngineEnding, engineId: string, redact: (text: string) => string): RunFailure | null {
  if (ending === null) {
    const message = `The engine ${engineId} ended without an answer. Send the message again.`;
    return { code: 'engine_crashed', message, retryable: true };
  }
  return ending.type === 'failed' ? { ...ending.failure, message: redact(ending.failure.message) } : null;
}
