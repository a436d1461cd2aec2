import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createEventQueue, type EventQueue } from '@svc/engine-kit/event-queue.ts';
import { allowedToolServers, toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import { estimateUsage } from '@svc/engine-kit/usage.ts';
import type { ClaudeInit, ClaudeMessage, ClaudeResult } from './claude-messages.ts';
import { answerLimitMs, type Conversation, type TurnListener } from './conversation.ts';
import { refusal } from './key-in-settings.ts';
import { missingServers, toEngineEvents, toUsage } from './to-engine-event.ts';
import { isUnknownSession, longWait, toFailure } from './to-failure.ts';

/** How a turn ended: with its terminal event, or in a way from which a new program can recover. */
export type TurnOutcome = 'finished' | 'session_unknown' | 'program_gone';

type Options = { conversation: Conversation; request: EngineRequest; allowsKey: boolean; signal: AbortSignal };

/** The state of the running turn. */
export type Turn = Readonly<Options> & {
  readonly queue: EventQueue;
  /** True when its program was already open: it may have died or hung since. */
  readonly isWarm: boolean;
  /** Ends a warm program that does not respond. */
  readonly hangTimer: NodeJS.Timeout | undefined;
  outcome: TurnOutcome;
  model: string | null;
  announced: boolean;
  /** True until the program reports anything about the turn itself. */
  silent: boolean;
  /** Length of all text from the model. */
  said: number;
  /** The program's code for the last error. */
  word: string | null;
  /** When the limit ends that the account has reached, epoch s. */
  resetsAt: number | null;
};

/** The program silently waits as long as the vendor demands. Beyond this time, it is better to fail the turn, ms. */
const maxWaitMs = 10_000;

export function beginTurn(options: Options): Turn {
  const { conversation } = options;
  const queue = createEventQueue();
  const isWarm = conversation.used;
  const hangTimer = isWarm ? setTimeout(() => void conversation.kill(), answerLimitMs) : undefined;
  void queue.ended.then(() => clearTimeout(hangTimer));
  const nothingYet = {
    outcome: 'finished',
    model: null,
    announced: false,
    silent: true,
    said: 0,
    word: null,
    resetsAt: null,
  } as const;
  return { ...options, queue, isWarm, hangTimer, ...nothingYet };
}

/** Converts the program's messages to events of the turn. */
export const listenerOf = (turn: Turn): TurnListener => ({
  request: turn.request,
  onMessage: (message) => readMessage(turn, message),
  onEnd: (reason, overflow = null) => endTurn(turn, reason, overflow),
});

/** The usage of the turn so far, estimated where it is unknown. */
export const estimated = ({ request, said }: Turn): EngineEvent => ({
  type: 'usage',
  usage: estimateUsage({ input: request.text, output: { length: said } }),
});

function readMessage(turn: Turn, message: ClaudeMessage): void {
  clearTimeout(turn.hangTimer);
  if (message.type === 'system' && message.subtype === 'init') return readInit(turn, message);
  if (message.type === 'result') return readResult(turn, message);
  turn.silent = false;
  if (message.type === 'assistant' && message.error !== undefined) turn.word = message.error;
  if (isLongRetry(message)) {
    finish(turn, { type: 'failed', failure: longWait(message.error_status, message.retry_delay_ms) });
    return void turn.conversation.close();
  }
  if (message.type === 'rate_limit_event') turn.resetsAt = limitEnd(message.rate_limit_info);
  for (const event of toEngineEvents(message)) {
    if (event.type === 'delta' || event.type === 'thinking') turn.said += event.text.length;
    turn.queue.push(event);
  }
}

function readInit(turn: Turn, message: ClaudeInit): void {
  const { conversation, request } = turn;
  if (!turn.allowsKey && (message.apiKeySource ?? 'none') !== 'none') {
    const why = `Claude has an API key (${message.apiKeySource}), so it would bill every turn`;
    finish(turn, { type: 'failed', failure: refusal(why) });
    return void conversation.close();
  }
  if (turn.announced) return;
  turn.announced = true;
  turn.model = message.model;
  conversation.sessionId = message.session_id;
  const resumed = request.resume === message.session_id;
  turn.queue.push({ type: 'session', engineSessionId: message.session_id, resumed, model: message.model });
  const wanted = allowedToolServers(request).map(({ name }) => name);
  const missing = missingServers(message, wanted);
  conversation.missing = missing.map(({ name }) => name);
  for (const { name, why } of missing) turn.queue.push(toolServerMissing(name, why));
}

function readResult(turn: Turn, result: ClaudeResult): void {
  if (isUnknownSession(result)) return giveUp(turn, 'session_unknown');
  const usage = toUsage(result, turn.model);
  const used: EngineEvent | null = usage && { type: 'usage', usage };
  if (turn.signal.aborted) return finish(turn, used ?? estimated(turn), { type: 'aborted' });
  if (!result.is_error) return finish(turn, used ?? estimated(turn), { type: 'done' });
  const failure = toFailure(result, { word: turn.word, resetsAt: turn.resetsAt, now: Date.now() });
  return finish(turn, ...(used === null ? [] : [used]), { type: 'failed', failure });
}

/** The program has ended, with its last output. */
function endTurn(turn: Turn, reason: string, overflow: EngineFailure | null): void {
  if (turn.signal.aborted) return finish(turn, estimated(turn), { type: 'aborted' });
  if (overflow !== null) return finish(turn, estimated(turn), { type: 'failed', failure: overflow });
  if (turn.isWarm && turn.silent) return giveUp(turn, 'program_gone');
  const failure: EngineFailure = { code: 'engine_crashed', message: `${reason} Try again.`, retryable: true };
  return finish(turn, { type: 'failed', failure });
}

function finish({ queue }: Turn, ...events: EngineEvent[]): void {
  for (const event of events) queue.push(event);
  queue.end();
}

/** Ends the turn without a terminal event, because another attempt will send it. */
function giveUp(turn: Turn, outcome: Exclude<TurnOutcome, 'finished'>): void {
  turn.outcome = outcome;
  turn.queue.end();
}

/** Each answer of the vendor names the end of the present window; only for a request that it refused is that the end of a limit. */
const limitEnd = ({ status, resetsAt }: RateLimit): number | null => (status === 'rejected' ? (resetsAt ?? null) : null);

type RateLimit = Extract<ClaudeMessage, { type: 'rate_limit_event' }>['rate_limit_info'];
type Retry = Extract<ClaudeMessage, { subtype: 'api_retry' }>;
const isLongRetry = (message: ClaudeMessage): message is Retry =>
  message.type === 'system' && message.subtype === 'api_retry' && message.retry_delay_ms > maxWaitMs;
