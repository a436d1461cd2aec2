import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { CoreContext } from '../context.ts';
import type { LiveTurn } from './live-turns.ts';
import { routeOf } from './route-of.ts';
import { failTurn, runAccepted } from './run-accepted.ts';
import type { Turn } from './turn.ts';
import { toTurn, type JournalRow } from './turn-journal.ts';
import { workOf } from './work-of.ts';

/** A message that is older than this is not answered any more, but reported: its sender has moved on. */
const maxAgeMs = 60 * 60_000;
/** A turn that was cut off is run again once. If that run is cut off too, the turn may be what stops the service. */
const maxAttempts = 2;

/**
 * Takes up what the journal says was left open: turns that waited run, in their order; a turn that was running is run
 * once more in its engine's session; replies that were not delivered wait for their connector, then are pushed. To be
 * called before anybody else is let in, so that a message which comes again finds its turn. What cannot be taken up is listed.
 */
export async function recoverTurns(deps: CoreContext): Promise<void> {
  const rows = await deps.journal.open();
  if (rows.length > 0) deps.log.info({ turns: rows.length }, 'taking up what was open when the service stopped');
  for (const row of rows.toSorted(inPlace)) {
    try {
      await recover(deps, row);
    } catch (error) {
      deps.log.error({ err: error, turn: row.id }, 'an open turn could not be taken up');
      await report(deps, row);
    }
  }
}

/** What the journal holds of the turn cannot be read, its route neither, so it can only be listed. */
async function report({ journal, outbox, log }: CoreContext, row: JournalRow): Promise<void> {
  const lost = new ServiceError('turn_interrupted', 'The service stopped before this was answered. Send it as a new message.');
  const { id, seq, conversation_key, request_id } = row;
  const failed = { turn_id: id, turn_seq: seq, conversation_key, text: lost.message, injected: false, route: null };
  try {
    await Promise.all([
      journal.fail(row, lost.toBody(request_id)),
      outbox.push({ ...failed, error: 'the turn could not be taken up after a restart' }),
    ]);
  } catch (error) {
    log.error({ err: error, turn: id }, 'an open turn could not be reported');
  }
}

/** Turns that ran keep their place before those that waited; all others go by their arrival, which their ids tell. */
const inPlace = (a: JournalRow, b: JournalRow): number =>
  Number(b.attempts > 0) - Number(a.attempts > 0) || (a.id < b.id ? -1 : 1);

async function recover(deps: CoreContext, row: JournalRow): Promise<void> {
  if (row.result !== null) return expectDelivery(deps, row, JSON.parse(row.result) as HandleResult);
  const turn = toTurn(row);
  const problem = whyNot(row, deps.clock.now());
  const gathered = isGathered(deps, turn, row) ? await deps.trust.resolve(turn.envelope) : null;
  const live = deps.liveTurns.begin(turn, null, (begun) =>
    problem === null ? takeUp(deps, begun, row, gathered) : giveUp(deps, begun, problem),
  );
  live.result.catch((error: unknown) => {
    deps.log.warn({ err: error, turn: turn.id }, 'a turn that was taken up again failed');
  });
}

function whyNot({ attempts, accepted_at }: JournalRow, now: number): ServiceError | null {
  if (attempts >= maxAttempts) {
    return new ServiceError(
      'turn_interrupted',
      'The service stopped twice while it worked on this message. If it still matters, send it as a new message.',
    );
  }
  return now - accepted_at > maxAgeMs
    ? new ServiceError(
        'turn_interrupted',
        'The service was away when this message came. If it still matters, send it as a new message.',
      )
    : null;
}

/** It waited for more of the same sender, and may go on waiting. */
const isGathered = ({ bursts }: CoreContext, { steering, envelope }: Turn, { state, attempts }: JournalRow): boolean =>
  state === 'queued' && attempts === 0 && steering === undefined && bursts.takes(envelope);

function takeUp(deps: CoreContext, live: LiveTurn, row: JournalRow, gathered: Identity | null): Promise<HandleResult> {
  const { turn } = live;
  deps.events.recovered(turn, row.attempts);
  if (gathered !== null) return deps.bursts.add(live, gathered);
  const next = turn.steering !== undefined;
  const ticket = deps.turnQueue.enter(turn.envelope.conversation_key, { unlimited: true, next });
  return runAccepted(deps, live, ticket, false, workOf(deps, live));
}

async function giveUp(deps: CoreContext, live: LiveTurn, problem: ServiceError): Promise<HandleResult> {
  await failTurn(deps, live, problem);
  deps.events.ended(live.turn, 'failed', 0, problem.code);
  throw problem;
}

/** A reply that was made, and of which nobody knows whether it was received. */
function expectDelivery(deps: CoreContext, row: JournalRow, made: HandleResult): void {
  const turn = toTurn(row);
  deps.handovers.expect(turn, routeOf(turn), made, false);
}
