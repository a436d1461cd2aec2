import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { commandOf } from './chat-commands.ts';
import { countRan, judgeOpenTurn, type OpenTurnVerdict } from './judge-open-turn.ts';
import type { LiveTurn } from './live-turns.ts';
import { routeOf } from './route-of.ts';
import { failTurn, type RunLiveTurn } from './run-journaled-turn.ts';
import type { PipelineParts } from './turn-deps.ts';
import { type JournalRow, toTurn } from './turn-row.ts';
import type { Turn } from './turn.ts';

type Deps = { run: RunLiveTurn } & Pick<
  PipelineParts,
  'clock' | 'log' | 'db' | 'events' | 'trust' | 'journal' | 'outbox' | 'pendingAcks' | 'liveTurns' | 'batches' | 'turnQueue'
>;

/**
 * Resumes the turns that the journal lists as open: those that waited run, in order; one that was running is run once more
 * in its engine's session; replies that were not delivered wait for their connector, then are pushed. To be called before
 * other requests are accepted, so that a message which arrives again finds its turn. Turns that cannot be resumed are listed.
 * `isDeadly`: the previous process ended by its own fault, so the turns that it ran are run again with care, or not at all.
 */
export async function recoverTurns(deps: Deps, { isDeadly = false } = {}): Promise<void> {
  const rows = await deps.journal.open();
  if (rows.length === 0) return;
  deps.log.info({ turns: rows.length, isDeadly }, 'resuming turns that were open when the service stopped');
  const lastLife = { isDeadly, ran: countRan(rows) };
  const judge = (row: JournalRow) => judgeOpenTurn(row, lastLife, deps.clock.now());
  const hasSuspects = rows.some((row) => judge(row).next === 'alone');
  const letOthersRun = hasSuspects ? deps.turnQueue.hold() : () => undefined;
  const suspects: Suspect[] = [];
  for (const row of rows.toSorted(inPlace)) {
    try {
      const suspect = await recover(deps, row, judge(row));
      if (suspect !== null) suspects.push(suspect);
    } catch (error) {
      deps.log.error({ err: error, turn: row.id }, 'an open turn could not be resumed');
      await report(deps, row);
    }
  }
  if (hasSuspects) await runSuspects(deps, suspects, letOthersRun);
}

async function runSuspects(deps: Deps, suspects: readonly Suspect[], letOthersRun: () => void): Promise<void> {
  deps.log.warn({ turns: suspects.length }, 'turns that ran when the service failed are run one at a time');
  // It must be stored that they were set aside before the first of them runs.
  await deps.db.flush();
  void runAlone(suspects, letOthersRun, deps);
}

/** The journal's row of the turn, including its route, cannot be read, so the turn can only be listed. */
async function report({ journal, outbox, log }: Deps, row: JournalRow): Promise<void> {
  const lost = new ServiceError('turn_interrupted', 'The service stopped before this was answered. Send it as a new message.');
  const { id, seq, conversation_key, request_id } = row;
  const failed = { turn_id: id, turn_seq: seq, conversation_key, text: lost.message, injected: false, route: null };
  try {
    await Promise.all([
      journal.fail(row, lost.toBody(request_id)),
      outbox.push({ ...failed, error: 'the turn could not be resumed after a restart' }),
    ]);
  } catch (error) {
    log.error({ err: error, turn: id }, 'an open turn could not be reported');
  }
}

/** Turns that ran come before those that waited; otherwise they go by arrival, which their ids show. */
const inPlace = (a: JournalRow, b: JournalRow): number =>
  Number(b.attempts > 0) - Number(a.attempts > 0) || (a.id < b.id ? -1 : 1);

/** Returns the turn if it waits to be run alone. */
async function recover(deps: Deps, row: JournalRow, verdict: OpenTurnVerdict): Promise<Suspect | null> {
  if (row.result !== null) return expectDelivery(deps, row, JSON.parse(row.result) as HandleResult);
  const turn = toTurn(row);
  if (verdict.next === 'alone') return setAside(deps, turn, row);
  const gathered = isGathered(deps, turn, row) ? await deps.trust.resolve(turn.envelope) : null;
  const live = deps.liveTurns.begin(turn, null);
  live.accepted();
  const answer =
    verdict.next === 'give_up' && turn.isDropped !== true ? giveUp(deps, live, verdict.error) : takeUp(deps, live, row, gathered);
  logFailure(deps, turn, live.follow(answer));
  return null;
}

function logFailure({ log }: Deps, turn: Turn, answer: Promise<HandleResult>): void {
  answer.catch((error: unknown) => {
    log.warn({ err: error, turn: turn.id }, 'a resumed turn failed');
  });
}

/** The turn keeps its place in its conversation until it is due. */
async function setAside(deps: Deps, turn: Turn, row: JournalRow): Promise<Suspect> {
  await deps.journal.setAside(turn);
  const due = Promise.withResolvers<void>();
  const live = deps.liveTurns.begin(turn, null);
  live.accepted();
  const ended = live.follow(runWhenDue(deps, live, row, due.promise));
  logFailure(deps, turn, ended);
  return { start: due.resolve, ended };
}

async function runWhenDue(deps: Deps, live: LiveTurn, row: JournalRow, due: Promise<void>): Promise<HandleResult> {
  deps.events.recovered(live.turn, row.attempts);
  const ticket = deps.turnQueue.enter(live.turn.envelope.conversation_key, { unlimited: true, passesHold: true });
  await due;
  return deps.run(live, ticket);
}

const isMessage = ({ steering, amends, isDropped }: Turn): boolean =>
  steering === undefined && amends === undefined && isDropped !== true;

/** It waited for more messages of the same sender, and may continue to wait. */
const isGathered = ({ batches }: Deps, turn: Turn, { state, attempts }: JournalRow): boolean =>
  state === 'queued' && attempts === 0 && isMessage(turn) && commandOf(turn) === null && batches.takes(turn.envelope);

async function takeUp(deps: Deps, live: LiveTurn, row: JournalRow, gathered: Identity | null): Promise<HandleResult> {
  const { turn } = live;
  deps.events.recovered(turn, row.attempts);
  if (gathered !== null) return deps.batches.add(live, gathered);
  const next = turn.steering !== undefined || turn.amends !== undefined;
  if (!next) deps.batches.endIn(turn.envelope.conversation_key);
  const ticket = deps.turnQueue.enter(turn.envelope.conversation_key, { unlimited: true, next });
  return deps.run(live, ticket);
}

async function giveUp(deps: Deps, live: LiveTurn, problem: ServiceError): Promise<HandleResult> {
  await failTurn(deps, live, problem);
  deps.events.ended(live.turn, 'failed', 0, problem.code);
  throw problem;
}

/** A reply was made, but it is unknown whether it was received. */
function expectDelivery(deps: Deps, row: JournalRow, made: HandleResult): null {
  const turn = toTurn(row);
  deps.pendingAcks.expect(turn, routeOf(turn), made, false);
  return null;
}

/** A turn that waits to be run alone. */
type Suspect = { start(): void; ended: Promise<unknown> };

/** Other turns wait at most this long for all suspects together: a turn that ends the service mostly does so soon. */
const maxHoldMs = 30_000;

/**
 * Runs turns of which one may have ended the service: one after the other, and at first with no other turn beside them. If
 * the service ends again, the turn that ends it is known, and the others get their answers.
 */
async function runAlone(
  suspects: readonly Suspect[],
  letOthersRun: () => void,
  { clock }: { clock: Pick<Clock, 'after'> },
): Promise<void> {
  const cancel = clock.after(maxHoldMs, letOthersRun);
  for (const { start, ended } of suspects) {
    start();
    await ended.catch(() => undefined); // its own caller gets the fault
  }
  cancel();
  letOthersRun();
}
