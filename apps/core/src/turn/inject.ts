import type { Envelope } from '@svc/contract/envelope.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { Route } from '../delivery/delivery-store.ts';
import type { SessionRow } from '../session/session-store.ts';
import { abortTurn } from './abort-turn.ts';
import type { LiveTurn } from './live-turns.ts';
import { routeOfSession } from './route-of.ts';
import type { RunLiveTurn } from './run-journaled-turn.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Caller, Turn } from './turn.ts';

type Deps = { run: RunLiveTurn } & Pick<
  PipelineParts,
  'sessions' | 'ids' | 'journal' | 'outbox' | 'liveTurns' | 'batches' | 'turnQueue' | 'terminalWords'
>;

/** `mayType`: the operator, who may also type into the terminal of a session. `message_id`: a session takes words with the same one once. */
export type Injection = {
  conversation_key: string;
  text: string;
  by?: string;
  interrupt?: boolean;
  mayType?: boolean;
  message_id?: string;
};

/** How long the answer waits for the channel; delivery itself goes on after it. */
const deliverWithinMs = 15_000;

/**
 * Puts an operator's words into a session as its next turn, before all that wait; with `interrupt` the running turn
 * is ended first. Resolves when the reply is there and its first delivery has been tried. In a session whose engine runs in a terminal the operator's
 * words are typed there.
 * @throws ServiceError `not_found`, `conflict` (the session is claimed; with `said: true` the words were said already) or what a turn throws.
 */
export async function inject(deps: Deps, injection: Injection, caller: Caller, requestId: string): Promise<InjectAnswer> {
  const session = await deps.sessions.read(injection.conversation_key);
  if (session === undefined) throw notFound('session', injection.conversation_key);
  if (session.claimed_by !== null) {
    const { mayType = false, ...words } = injection;
    const answer = mayType ? await deps.terminalWords.say(words) : null;
    if (answer !== null) return answer;
    throw conflict(`The session is claimed by ${session.claimed_by}. Release it first (POST /v2/release).`);
  }
  await checkIsNew(deps, injection);
  const wasRunning = deps.turnQueue.stateOf(injection.conversation_key) === 'running';
  const turn = toTurn(deps, session, injection, wasRunning, requestId);
  const live = deps.liveTurns.begin(turn, caller);
  const handled = await live.follow(run(deps, live, injection.interrupt === true));
  return deliver(deps, live, handled, routeOfSession(session));
}

/** Before anything is ended for them: what runs may be their own turn. */
async function checkIsNew({ journal }: Pick<Deps, 'journal'>, { conversation_key, message_id }: Injection): Promise<void> {
  if (message_id !== undefined && (await journal.find(conversation_key, message_id)) !== undefined) throw saidAlready();
}

const saidAlready = () => conflict('These words were said already.', { said: true });

function toTurn(deps: Deps, session: SessionRow, injection: Injection, wasRunning: boolean, requestId: string): Turn {
  const { text, by, message_id } = injection;
  const route = routeOfSession(session);
  const envelope: Envelope = {
    channel: session.surface,
    conversation_key: session.conversation_key,
    sender: { raw_id: by ?? 'operator' },
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
    steering: { by: by ?? null, wasRunning, principalId: session.principal_id },
  };
}

async function run(deps: Deps, live: LiveTurn, interrupts: boolean): Promise<HandleResult> {
  const { conversation_key } = live.turn.envelope;
  const ticket = deps.turnQueue.enter(conversation_key, { next: true });
  try {
    if (interrupts) abortTurn(deps, conversation_key);
    const seq = await deps.journal.accept(live.turn, 'queued');
    if (seq === null) throw saidAlready();
    live.turn.seq = seq;
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
async function deliveryError({ outbox }: Deps, live: LiveTurn, handled: HandleResult, route: Route | null) {
  if (handled.actions.length === 0) return `there is nothing to deliver: the turn ended as ${handled.outcome}`;
  if (route === null || live.delivery === undefined) return 'the session has no stored outbound route';
  const outcome = await outbox.firstTry(live.delivery, deliverWithinMs);
  if (outcome.delivered) return null;
  return `${outcome.error} (${outcome.permanent ? 'it is not tried again' : 'it is tried again'})`;
}
