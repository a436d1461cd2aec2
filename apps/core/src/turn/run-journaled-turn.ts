import type { HandleResult } from '@svc/contract/turn.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { jsonInTurns } from '@svc/service-kit/json/write-steps.ts';
import type { ChatCommand } from './chat-commands.ts';
import { deliveryOf, pushReply } from '../delivery/delivery-of.ts';
import type { LiveTurn } from './live-turns.ts';
import { routeOf } from './route-of.ts';
import { handleTurn } from './handle-turn.ts';
import { AbortedInQueue, type Ticket } from './ticket.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';

/** `answer`: set when the turn answers a question of the running one. `hasStarted`: the journal already says that it runs. */
export type Accepted = { answer?: ChatCommand | null; hasStarted?: boolean };

/** Runs a live turn that is in the journal, in the place that was taken for it. */
export type RunLiveTurn = (live: LiveTurn, ticket: Ticket, accepted?: Accepted) => Promise<HandleResult>;

type Deps = Pick<PipelineParts, 'journal' | 'events' | 'turnQueue' | 'outbox' | 'pendingAcks' | 'db'>;

/**
 * Runs a journaled turn when its place in the queue is due, and stores how it ended before any caller gets the answer. While
 * the service stops, nothing is stored: the turn stays open, and is run when the service is back.
 */
export async function runJournaledTurn(
  deps: PipelineParts,
  live: LiveTurn,
  ticket: Ticket,
  { answer = null, hasStarted = false }: Accepted = {},
): Promise<HandleResult> {
  const { turn } = live;
  let isTold = false;
  live.abort = () => ticket.abort('operator');
  const onQueued = (position: number) => {
    live.sink({ type: 'queued', position });
    if (!isTold) deps.events.queued(turn, position);
    isTold = true;
  };
  try {
    const handled = await ticket.run(async (signal, rest) => {
      live.isRunning = true;
      if (!hasStarted) await begin(deps, live);
      return endTurn(deps, live, await handleTurn(deps, live, answer, { signal, rest }));
    }, onQueued);
    await live.flush();
    return handled;
  } catch (error) {
    if (error instanceof AbortedInQueue) return abortInQueue(deps, live);
    if (!deps.turnQueue.isClosed()) await failTurn(deps, live, error);
    throw error;
  }
}

/** The start is committed before the turn runs: otherwise a crash in its first moments would not count as a run. */
async function begin({ journal }: Deps, live: LiveTurn): Promise<void> {
  await journal.start(live.turn);
  await live.flush();
}

async function abortInQueue(deps: Deps, live: LiveTurn): Promise<HandleResult> {
  const handled = await endTurn(deps, live, toResult(live.turn, 'aborted', ''));
  deps.events.ended(live.turn, 'aborted', 0);
  await live.flush();
  return handled;
}

/** Runs while the turn still holds its place: the next turn of the conversation begins after this is stored. */
async function endTurn(deps: Deps, live: LiveTurn, handled: HandleResult): Promise<HandleResult> {
  const { turn } = live;
  const route = routeOf(turn);
  const hasReply = handled.actions.length > 0;
  const json = await jsonInTurns(handled);
  keepTools(deps, live);
  if (hasReply && route !== null && (turn.steering !== undefined || turn.amends !== undefined)) {
    // No caller waits on the channel for the answer to steering or an edit, so it is pushed.
    const reply = { turn, actions: handled.actions, route, error: null };
    live.delivery = await pushReply(deps.outbox, reply, (tx) => deps.journal.end(turn, handled, false, json, tx));
    return handled;
  }
  const isAttended = live.hasCaller();
  const isOpen = hasReply && (route !== null || !isAttended);
  await deps.journal.end(turn, handled, isOpen, json);
  if (isOpen) deps.pendingAcks.expect(turn, route, handled, isAttended);
  return handled;
}

/** Begun in the same tick as the end, so a crash leaves both or neither. A fault of the database shows in the end itself. */
function keepTools({ journal }: Pick<Deps, 'journal'>, { turn, tools }: LiveTurn): void {
  if (tools.length > 0) journal.keepTools(turn, tools).catch(() => undefined);
}

/** Stores the failure. Without a waiting caller, it is pushed to the channel, or listed. */
export async function failTurn(deps: Deps, live: LiveTurn, error: unknown): Promise<void> {
  const { turn } = live;
  const failure = toServiceError(error).toBody(turn.requestId);
  keepTools(deps, live);
  await deps.journal.fail(turn, failure);
  if (!live.hasCaller() && turn.envelope.keeps === true) deps.events.kept(turn);
  else if (!live.hasCaller()) {
    const error = `the turn failed: ${failure.error}`;
    await deps.outbox.push({ ...deliveryOf(turn, failure.message), route: routeOf(turn), error });
  }
  await deps.db.flush();
}
