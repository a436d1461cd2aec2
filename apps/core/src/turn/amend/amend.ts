import type { Amendment, AmendOutcome, AmendResult } from '@svc/contract/amend.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { LiveTurn } from '../live-turns.ts';
import { senderOfRow } from '../origin.ts';
import { routeOf } from '../route-of.ts';
import type { RunLiveTurn } from '../run-journaled-turn.ts';
import { inputOf, type JournalRow } from '../turn-row.ts';
import type { PipelineParts } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';
import { amendObserved } from './amend-observed.ts';
import { messageOf, without, withText } from './changed-turn.ts';
import { createRightToAmend } from './right-to-amend.ts';

type Deps = { run: RunLiveTurn } & Pick<
  PipelineParts,
  'db' | 'ids' | 'log' | 'trust' | 'journal' | 'observed' | 'liveTurns' | 'turnQueue'
>;

/** An amendment of a journaled message that is newer than its known version. */
type Change = { row: JournalRow; amendment: Amendment; requestId: string };

/**
 * Takes an edit or a deletion of a message; it is journaled before this resolves. Calls for messages of the same conversation must not
 * overlap.
 * @throws ServiceError `queue_full`, `unavailable`.
 */
export async function amend(deps: Deps, amendment: Amendment, requestId: string): Promise<AmendResult> {
  const { conversation_key: key, message_id, version, as } = amendment;
  const identity = await resolveSpeaker(deps.trust, as, { conversation_key: key, public: false });
  if (identity.denied) return { outcome: 'denied' };
  const mayAmend = createRightToAmend(deps.trust, amendment);
  await acceptance(deps.liveTurns.find(key, message_id));
  const row = await deps.journal.find(key, message_id);
  if (row === undefined) return { outcome: await amendObserved(deps, amendment, mayAmend) };
  if (!(await mayAmend(senderOfRow(row)))) return { outcome: 'denied' };
  if (row.amended !== null && row.amended >= version) return { outcome: 'unchanged' };
  return { outcome: await change(deps, { row, amendment, requestId }) };
}

/** Waits until an arrived message is in the journal, or will not be, before it is looked up. */
async function acceptance(live: LiveTurn | undefined): Promise<void> {
  if (live === undefined || live.isAccepted()) return;
  await new Promise<void>((resolve) => {
    live.attach({ sink: null, isGone: () => true, onAccepted: () => resolve() });
    live.result.then(
      () => resolve(),
      () => resolve(),
    );
  });
}

function change(deps: Deps, given: Change): Promise<AmendOutcome> {
  const { amendment, row } = given;
  const { conversation_key: key, message_id, text } = amendment;
  const holders = deps.liveTurns.holdersOf(key, message_id);
  if (holders.length === 0 && isUnended(row)) return changeLeft(deps, given);
  if (text === null) return remove(deps, given, holders);
  const waiting = holders.findLast(({ isRunning }) => !isRunning);
  if (waiting !== undefined) return replace(deps, given, waiting, text);
  const running = holders.at(-1);
  if (running !== undefined && routeOf(running.turn) !== null) return steer(deps, given, running.turn, text);
  return note(deps, given);
}

const isUnended = ({ open, result }: JournalRow): boolean => open === 1 && result === null;

/** No live turn has the message: it has ended meanwhile, or its end could not be stored. The old text is not run again. */
async function changeLeft(deps: Deps, given: Change): Promise<AmendOutcome> {
  const { conversation_key: key, message_id } = given.amendment;
  const row = (await deps.journal.find(key, message_id)) ?? given.row;
  const isTaken = deps.liveTurns.find(key, message_id) !== undefined || deps.liveTurns.holdersOf(key, message_id).length > 0;
  if (isTaken || deps.turnQueue.isClosed()) throw beingTakenUp();
  if (isUnended(row)) await deps.journal.fail(row, endUnknown.toBody(row.request_id));
  return note(deps, { ...given, row });
}

async function replace(deps: Deps, { row, amendment }: Change, live: LiveTurn, text: string): Promise<AmendOutcome> {
  live.turn = withText(live.turn, amendment.message_id, text, amendment.version);
  await keep(deps, live, row, amendment);
  return 'replaced';
}

/** A message that was merged with others is removed from their waiting turn. A turn without any message left ends. */
async function remove(deps: Deps, given: Change, holders: readonly LiveTurn[]): Promise<AmendOutcome> {
  const { row, amendment } = given;
  let outcome: AmendOutcome | null = null;
  for (const live of holders) {
    const rest = without(live.turn, amendment.message_id);
    if (rest !== null && live.isRunning) continue;
    outcome = live.isRunning ? 'aborted' : (outcome ?? 'dropped');
    live.turn = rest ?? { ...live.turn, isDropped: true };
    await keep(deps, live, row, amendment);
    if (rest === null) live.abort?.();
  }
  const isAnswered = holders.every(({ turn }) => turn.amends !== undefined);
  return outcome !== null && !isAnswered ? outcome : note(deps, given);
}

/** Stores the changed turn and the known version. Both are begun in one tick, so a crash leaves both or neither. */
async function keep({ db, journal }: Deps, live: LiveTurn, row: JournalRow, { version }: Amendment): Promise<void> {
  const since = db.mark();
  const input = await inputOf(live.turn);
  await Promise.all([journal.keepInput(live.turn, input), journal.amended(row, version)]);
  await db.flush(since);
}

/** The engine is working on the old text: the new one follows as the next turn, with the rights of the person whose message it is. */
async function steer(deps: Deps, { row, amendment, requestId }: Change, turn: Turn, text: string): Promise<AmendOutcome> {
  const { message_id, version } = amendment;
  const { transcript: _transcript, attachments: _attachments, ...content } = turn.envelope.content;
  const { message_id: _id, delivery: _delivery, intake: _intake, ...envelope } = turn.envelope;
  const { sender, public: isPublic } = messageOf(turn, message_id);
  const live = deps.liveTurns.begin(
    {
      id: deps.ids.next('turn'),
      seq: 0,
      requestId,
      envelope: { ...envelope, sender, public: isPublic, content: { ...content, text } },
      instanceId: turn.instanceId,
      amends: { message_id, version },
    },
    null,
  );
  const accepted = Promise.withResolvers<void>();
  const ended = live.follow(runEdit(deps, live, () => deps.journal.amended(row, version), accepted.resolve));
  ended.catch((error: unknown) => {
    accepted.reject(error);
    deps.log.warn({ err: error, turn: live.turn.id }, 'the turn of an edit failed');
  });
  await accepted.promise;
  return 'steered';
}

async function runEdit(deps: Deps, live: LiveTurn, mark: () => Promise<unknown>, onAccepted: () => void) {
  const ticket = deps.turnQueue.enter(live.turn.envelope.conversation_key, { next: true });
  try {
    const [seq] = await Promise.all([deps.journal.accept(live.turn, 'queued'), mark()]);
    if (seq === null) throw new Error('the journal refused the turn of an edit');
    live.turn.seq = seq;
    live.accepted();
    await live.flush();
    onAccepted();
    return await deps.run(live, ticket);
  } finally {
    ticket.leave();
  }
}

/** An answered message stays answered; the next turn gets a note of the change. */
async function note(deps: Deps, { row, amendment }: Change): Promise<AmendOutcome> {
  const { conversation_key: key, message_id, version, text } = amendment;
  const sender = await deps.trust.resolve({ ...senderOfRow(row), conversation_key: key });
  const since = deps.db.mark();
  const noted = deps.observed.add(key, {
    sender: sender.display_name,
    tier: sender.trust_tier,
    text: noteText(row.text ?? '', text),
    message_id: compositeKey('amended', message_id, String(version)),
  });
  await Promise.all([noted, deps.journal.amended(row, version)]);
  await deps.db.flush(since);
  return 'noted';
}

const maxQuoted = 500;

const noteText = (before: string, now: string | null): string =>
  now === null
    ? `(deleted an earlier message, which said: ${cutText(before, maxQuoted)})`
    : `(edited an earlier message, which said: ${cutText(before, maxQuoted)})\nIt now says: ${now}`;

const beingTakenUp = () => unavailable('This message is being processed again. Try again in a moment.');

const endUnknown = new ServiceError('internal', 'The answer to this message could not be stored. Send it again.');
