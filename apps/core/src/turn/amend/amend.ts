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

/** An amendment of a message in the journal, which is newer than what is known of it. */
type Change = { row: JournalRow; amendment: Amendment; requestId: string };

/**
 * Takes an edit or a deletion of a message: it is in the journal before this resolves. To be called for one message of a conversation
 * after the other.
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

/** A message that has come is looked for in the journal when it is there, or will not be. */
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

/** No turn has the message: it has ended since, or how it ended could not be written. It is not run any more as it was. */
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

/** What was merged with others is taken out of their turn while it waits. A turn that is left without anything ends. */
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

/** The live turn is safe as it is now, and so is that this version is known. Begun in one tick, so a crash leaves both or neither. */
async function keep({ db, journal }: Deps, live: LiveTurn, row: JournalRow, { version }: Amendment): Promise<void> {
  const since = db.mark();
  const input = await inputOf(live.turn);
  await Promise.all([journal.keepInput(live.turn, input), journal.amended(row, version)]);
  await db.flush(since);
}

/** The engine works on the message as it was: what it says now comes next, from the person whose message it is and with no more rights. */
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

/** What was answered stays so; the next turn is told. */
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
    : `(edited an earlier message, which said: ${cutText(before, maxQuoted)})\nIt says now: ${now}`;

const beingTakenUp = () => unavailable('This message is being taken up again. Ask again in a moment.');

const endUnknown = new ServiceError('internal', 'How this message was answered could not be stored. Send it again.');
