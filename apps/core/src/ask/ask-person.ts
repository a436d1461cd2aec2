import type { AskAnswer, AskOutcome } from '@svc/contract/ask.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Question } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { AskStore } from './ask-store.ts';
import type { KeptAsk, OpenAsks } from './open-asks.ts';
import { shapeQuestion } from './shape-question.ts';

/** Who sees a question now: a client that shows it, only clients that cannot show it, or no client at all. */
export type Audience = 'shown' | 'unshown' | 'nobody';

export type AskDeps = {
  asks: OpenAsks;
  askStore: AskStore;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'warn' | 'error'>;
  settings: { askTimeoutMs: number };
};

/** The turn that asks, and its person; null for a person without a principal. */
export type AskedIn = {
  turnId: string;
  conversationKey: string;
  isPublic: boolean;
  principalId: string | null;
  sink: (frame: TurnProgress) => void;
  signal: AbortSignal;
  audience: () => Audience;
  redactor: () => Redactor;
  /** Frees the turn's slot for others while it waits. */
  rest: <T>(wait: () => Promise<T>) => Promise<T>;
  onAsk: (ask: KeptAsk) => void;
  onAsked: (ask: KeptAsk, answer: AskAnswer) => void;
};

/** Asks questions for the engine of one run. */
export type Asker = {
  /**
   * Asks one question at a time. Never rejects. `gone` aborts when nobody waits for the answer any more; then the question is withdrawn.
   */
  ask(question: Question, gone?: AbortSignal): Promise<AskAnswer>;
  isWaiting(): boolean;
  /** The total time spent waiting for answers so far, ms. */
  waitedMs(): number;
  /** The run is over: open questions are denied, and new ones are refused. */
  end(): void;
};

/** The limits of one turn: questions in total, and questions in the queue. */
export const turnLimits = { asks: 32, waiting: 16 } as const;
/** How long a person may take to reconnect, ms; also a connector, after a restart of the core. */
const graceMs = 30_000;

const denied = (outcome: Exclude<AskOutcome, 'answered'>): AskAnswer => ({ option: null, outcome });

/** Asks the person of one turn, one question at a time, so that a plain "yes" is unambiguous. */
export function createAsker(deps: AskDeps, turn: AskedIn): Asker {
  const { clock, log } = deps;
  const over = new AbortController();
  const signal = AbortSignal.any([turn.signal, over.signal]);
  let line: Promise<unknown> = Promise.resolve();
  let asked = 0;
  let waiting = 0;
  let waitedMs = 0;
  let waitsSince = 0;
  /** The person has not answered a question: the next ones are not waited for. */
  let isAway = false;

  const begin = () => {
    if (waiting++ === 0) waitsSince = clock.elapsed();
  };
  const end = () => {
    if (--waiting === 0) waitedMs += clock.elapsed() - waitsSince;
  };
  const askNow = async (question: Question, gone?: AbortSignal): Promise<AskAnswer> => {
    if (signal.aborted || gone?.aborted === true) return denied('ended');
    if (isAway) return denied('expired');
    const answer = await askOne(deps, turn, question, gone === undefined ? signal : AbortSignal.any([signal, gone]));
    isAway = answer.outcome === 'expired';
    return answer;
  };

  return {
    async ask(question, gone) {
      if (signal.aborted) return denied('ended');
      if (asked >= turnLimits.asks || waiting >= turnLimits.waiting) return denied('refused');
      asked++;
      begin();
      const answer = line.then(() => askNow(question, gone));
      line = answer.catch(() => undefined);
      try {
        return await answer;
      } catch (error) {
        log.error({ err: error, turn: turn.turnId }, 'a question could not be asked');
        return denied('failed');
      } finally {
        end();
      }
    },
    isWaiting: () => waiting > 0,
    waitedMs: () => waitedMs + (waiting > 0 ? clock.elapsed() - waitsSince : 0),
    end: () => over.abort(),
  };
}

async function askOne(deps: AskDeps, turn: AskedIn, question: Question, signal: AbortSignal): Promise<AskAnswer> {
  const { askStore, clock, ids, log, settings } = deps;
  if (turn.principalId === null || turn.audience() === 'unshown') return denied('unseen');
  const shaped = await shapeQuestion(turn.redactor(), question);
  if (shaped === null) {
    log.warn({ turn: turn.turnId }, 'an engine asked a question that cannot be shown; it was denied');
    return denied('refused');
  }
  const now = clock.now();
  const ask: KeptAsk = {
    id: ids.next('ask'),
    ...shaped,
    for: turn.principalId,
    expires_at: now + settings.askTimeoutMs,
    conversation_key: turn.conversationKey,
    turn_id: turn.turnId,
    asked_at: now,
    public: turn.isPublic,
  };
  await askStore.add(ask);
  try {
    return await showAndWait(deps, turn, ask, signal);
  } finally {
    // The next start removes a row that stays.
    askStore.remove(ask.id).catch((error: unknown) => log.error({ err: error, ask: ask.id }, 'a question could not be removed'));
  }
}

/** Waits for the end of a question: an answer, its timeout, the end of its turn, or that nobody connects who could see it. */
async function showAndWait({ asks, clock, settings }: AskDeps, turn: AskedIn, ask: KeptAsk, signal: AbortSignal) {
  if (signal.aborted) return denied('ended');
  const closed = asks.open(ask);
  const onEnd = () => asks.deny(ask.id, 'ended');
  signal.addEventListener('abort', onEnd, { once: true });
  const cancelExpiry = clock.after(settings.askTimeoutMs, () => asks.deny(ask.id, 'expired'));
  const cancelGrace = clock.after(Math.min(graceMs, settings.askTimeoutMs), () => {
    if (turn.audience() !== 'shown') asks.deny(ask.id, 'unseen');
  });
  turn.onAsk(ask);
  const { id, text, options, for: principal, expires_at } = ask;
  turn.sink({ type: 'ask', ask: { id, text, options, for: principal, expires_at } });
  try {
    return await turn.rest(async () => {
      const answer = await closed;
      turn.sink({ type: 'asked', id, answer });
      turn.onAsked(ask, answer);
      return answer;
    });
  } finally {
    signal.removeEventListener('abort', onEnd);
    cancelExpiry();
    cancelGrace();
  }
}
