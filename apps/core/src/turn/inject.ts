import type { Envelope } from '@svc/contract/envelope.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { Route } from '../delivery/delivery-store.ts';
import type { SessionRow } from '../session/session-store.ts';
import { abortTurn } from './abort-turn.ts';
import type { LiveTurn } from './live-turns.ts';
import { joinTurn, replayAnswer } from './replay-answer.ts';
import { routeOfSession } from './route-of.ts';
import type { RunLiveTurn } from './run-journaled-turn.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Caller, Turn } from './turn.ts';

type Deps = { run: RunLiveTurn } & Pick<
  PipelineParts,
  'sessions' | 'ids' | 'journal' | 'deliveries' | 'outbox' | 'liveTurns' | 'batches' | 'turnQueue' | 'terminalWords'
>;

/**
 * `mayType`: the caller is the operator, who may also type into the terminal of a session. `message_id`: text with the same id is injected once per
 * session. `withinMs`: how long the answer waits for the text to be typed. `isReturned`: the text comes back from a terminal that ended without taking it.
 * `from`: its sender, if the text is from the person of the session and not from an operator.
 */
export type Injection = {
  conversation_key: string;
  text: string;
  by?: string;
  interrupt?: boolean;
  mayType?: boolean;
  message_id?: string;
  withinMs?: number;
  isReturned?: boolean;
  from?: Envelope['sender'] | undefined;
};

/** How long the answer waits for the channel; delivery itself goes on after it. */
const deliverWithinMs = 15_000;

/**
 * Runs an operator's text as the next turn of a session, ahead of all turns that wait; with `interrupt` the running turn
 * is aborted first. Resolves when the reply exists and its first delivery was tried. In a session whose engine runs in a terminal, the
 * text is typed there. Text that arrives twice with the same `message_id` is handled once, and all its callers get the same answer.
 * @throws ServiceError `not_found`, `conflict` (the session is claimed) or what a turn throws.
 */
export async function inject(deps: Deps, injection: Injection, caller: Caller, requestId: string): Promise<InjectAnswer> {
  const session = await deps.sessions.read(injection.conversation_key);
  if (session === undefined) throw notFound('session', injection.conversation_key);
  const { mayType = false, isReturned = false, from: _from, ...words } = injection;
  const { conversation_key, message_id } = words;
  const earlier = message_id === undefined ? undefined : await deps.journal.find(conversation_key, message_id);
  const isRepeat = earlier !== undefined;
  // Text that was already handled on the channel, or in a terminal that has ended since, is not handled again.
  if (session.claimed_by !== null && (!isRepeat || earlier.state === 'failed')) {
    const answer = mayType ? await deps.terminalWords.say(words) : null;
    if (answer !== null) return answer;
    throw conflict(`The session is claimed by ${session.claimed_by}. Release it first (POST /v2/release).`);
  }
  // Until the turn is in the journal, the text may still be stored as text for a terminal.
  const typed = isRepeat || isReturned ? null : await deps.terminalWords.earlier(words);
  if (typed !== null) return typed;
  const route = routeOfSession(session);
  const wasRunning = deps.turnQueue.stateOf(conversation_key) === 'running';
  const turn = toTurn(deps, session, injection, wasRunning, requestId);
  const known = deps.liveTurns.find(conversation_key, message_id);
  if (known !== undefined) return deliver(deps, known, await joinTurn(known, turn.envelope, caller), route);
  const live = deps.liveTurns.begin(turn, caller);
  // A repeat would interrupt its own turn, or one that came after it.
  const interrupts = injection.interrupt === true && !isRepeat;
  const handled = await live.follow(run(deps, live, caller, interrupts));
  return deliver(deps, live, handled, route);
}

function toTurn(deps: Deps, session: SessionRow, injection: Injection, wasRunning: boolean, requestId: string): Turn {
  const { text, by, message_id, from } = injection;
  const route = routeOfSession(session);
  const envelope: Envelope = {
    channel: session.surface,
    conversation_key: session.conversation_key,
    sender: from ?? { raw_id: by ?? 'operator' },
    content: { text },
    ...(message_id !== undefined && { message_id }),
    public: session.public === 1,
    channel_context: route === null ? {} : { target: route.target },
  };
  return {
    id: deps.ids.next('turn'),
    seq: 0,
    requestId,
    envelope,
    instanceId: route?.instance_id ?? session.instance_id,
    steering: { by: by ?? null, wasRunning, principalId: session.principal_id, ...(from !== undefined && { isOwn: true }) },
  };
}

async function run(deps: Deps, live: LiveTurn, caller: Caller, interrupts: boolean): Promise<HandleResult> {
  const { conversation_key } = live.turn.envelope;
  const ticket = deps.turnQueue.enter(conversation_key, { next: true });
  try {
    if (interrupts) abortTurn(deps, conversation_key);
    const seq = await deps.journal.accept(live.turn, 'queued');
    const replayed = seq === null ? await replayAnswer(deps, live, caller) : null;
    if (replayed !== null) return replayed;
    if (seq !== null) live.turn.seq = seq;
    live.accepted();
    return await deps.run(live, ticket);
  } finally {
    ticket.leave();
  }
}

async function deliver(deps: Deps, live: LiveTurn, handled: HandleResult, route: Route | null): Promise<InjectAnswer> {
  const answer = { ok: true, reply: textOf(handled.actions), route, outcome: handled.outcome, turn_id: handled.turn_id } as const;
  const deliverErr = await deliveryError(deps, live, handled, route);
  return { ...answer, delivered: deliverErr === null, deliverErr };
}

/** Why the reply has not reached the channel, or not yet; null when it has. */
async function deliveryError({ outbox, deliveries }: Deps, live: LiveTurn, handled: HandleResult, route: Route | null) {
  if (handled.actions.length === 0) return `there is nothing to deliver: the turn ended as ${handled.outcome}`;
  const delivery = live.delivery ?? (await deliveries.ofTurn(handled.turn_id));
  if (route === null || delivery === undefined) return 'the session has no stored outbound route';
  const outcome = await outbox.firstTry(delivery, deliverWithinMs);
  if (outcome.delivered) return null;
  return `${outcome.error} (${outcome.permanent ? 'it is not tried again' : 'it is tried again'})`;
}
