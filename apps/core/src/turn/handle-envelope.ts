import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { answerIn, isFrom, type MessageAnswer, takeAnswer } from '../ask/answer-message.ts';
import type { OpenAsks } from '../ask/open-asks.ts';
import { type ChatCommand, commandOf } from './chat-commands.ts';
import { instanceOfKey } from '../session/conversation-key.ts';
import { checkEnvelope, knownFields } from './check-envelope.ts';
import { heldToRules } from './held-to-rules.ts';
import { holdInput } from './hold-input.ts';
import type { LiveTurn } from './live-turns.ts';
import { hasHadTurn, joinTurn, replayAnswer } from './replay-answer.ts';
import type { RunLiveTurn } from './run-journaled-turn.ts';
import { admit, deny } from './steps/admit.ts';
import { invitationOf, takeInvitation } from './steps/take-invitation.ts';
import { freeTicket, type Ticket } from './ticket.ts';
import { toResult } from './to-result.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Caller, Turn } from './turn.ts';

type Deps = { run: RunLiveTurn } & Pick<
  PipelineParts,
  | 'paths'
  | 'ids'
  | 'intake'
  | 'trust'
  | 'instanceRules'
  | 'pending'
  | 'redeemInvitation'
  | 'events'
  | 'observed'
  | 'journal'
  | 'deliveries'
  | 'liveTurns'
  | 'batches'
  | 'botTurns'
  | 'turnQueue'
  | 'asks'
>;

/**
 * Handles one envelope from any caller: a connector over its link, or any caller of `POST /v2/handle`. A message
 * that arrives twice runs once, and all its callers get the same answer. A caller that disconnects does not end the turn.
 * @throws ServiceError `bad_request`, `conflict`, `queue_full`, `unavailable`, a `turn_…` or an `engine_…` code; every
 *   other ending is a result.
 */
export async function handleEnvelope(deps: Deps, given: Envelope, caller: Caller, requestId: string): Promise<HandleResult> {
  const envelope = knownFields(given);
  checkEnvelope(envelope, deps.paths.uploads);
  const known = deps.liveTurns.find(envelope.conversation_key, envelope.message_id);
  if (known !== undefined) return joinTurn(known, envelope, caller);
  const turn: Turn = {
    id: deps.ids.next('turn'),
    seq: 0,
    requestId,
    envelope,
    instanceId: instanceOfKey(envelope.channel, envelope.conversation_key),
  };
  const release = holdInput(deps.intake, envelope);
  try {
    const live = deps.liveTurns.begin(turn, caller);
    return await live.follow(accept(deps, live, caller));
  } finally {
    release();
  }
}

/**
 * Takes a place in line before anything is awaited, so that messages run in the order they came. An unknown sender
 * takes none: strangers can neither keep others waiting nor learn that the queue is full.
 */
async function accept(deps: Deps, live: LiveTurn, caller: Caller): Promise<HandleResult> {
  const { turn } = live;
  const { envelope } = turn;
  const held = heldToRules(deps, turn);
  const invitation = invitationOf(held.envelope);
  const taken = invitation === null ? null : await takeInvitation(deps, held, invitation);
  if (taken !== null) return taken;
  const stranger = deps.trust.strangerOf(envelope);
  if (stranger !== null) return deny(deps, held, stranger);
  if (envelope.delivery === 'async' && (await hasHadTurn(deps, envelope))) return toResult(turn, 'observed', '');
  const isObserved = envelope.delivery === 'async' || deps.botTurns.isOver(envelope);
  const command = commandOf(held);
  const answer = isObserved || command !== null ? null : answerIn(deps.asks, envelope);
  const isGathered = command === null && answer === null && deps.batches.takes(envelope);
  const needsPlace = !isObserved && !isGathered && command?.waits !== false;
  // A gathered message counts as accepted, and its batch enters the queue even if that is full. So room is checked here.
  if (isGathered && !isObserved) deps.turnQueue.checkRoom(envelope.conversation_key);
  if (needsPlace && answer === null) deps.batches.endIn(envelope.conversation_key);
  const ticket = needsPlace ? deps.turnQueue.enter(envelope.conversation_key, { unlimited: answer !== null }) : freeTicket;
  try {
    const admission = await admit(deps, held, isObserved);
    if ('ended' in admission) {
      if (isObserved && admission.ended.outcome === 'observed' && envelope.sender.is_bot !== true) deps.botTurns.note(envelope);
      return admission.ended;
    }
    const admitted = { live, caller, identity: admission.identity, isGathered };
    if (answer !== null && isFrom(answer, admission.identity)) {
      ticket.leave();
      return await keep(deps, { ...admitted, ticket: freeTicket, answer: answerCommand(deps.asks, answer) });
    }
    // It skipped the limit as an answer. From anyone but the person who was asked, it is an ordinary message.
    if (answer !== null) deps.turnQueue.checkRoom(envelope.conversation_key);
    return await keep(deps, { ...admitted, ticket, answer: null });
  } finally {
    ticket.leave();
  }
}

type Admitted = {
  live: LiveTurn;
  caller: Caller;
  identity: Identity;
  isGathered: boolean;
  ticket: Ticket;
  /** Set when the message answers a question of the running turn. */
  answer: ChatCommand | null;
};

/** Writes the message into the journal, and runs its turn when it is due. */
async function keep(deps: Deps, { live, caller, identity, isGathered, ticket, answer }: Admitted): Promise<HandleResult> {
  const isFree = !isGathered && ticket.isFree();
  const seq = await deps.journal.accept(live.turn, isFree ? 'running' : 'queued');
  if (seq === null) {
    const replayed = await replayAnswer(deps, live, caller);
    if (replayed !== null) return replayed;
  } else {
    live.turn.seq = seq;
    deps.botTurns.note(live.turn.envelope);
  }
  live.accepted();
  if (isGathered) return deps.batches.add(live, identity);
  return deps.run(live, ticket, { answer, hasStarted: isFree && seq !== null });
}

/** A message that answers a question of the running turn must not wait behind that turn. */
const answerCommand = (asks: OpenAsks, answer: MessageAnswer): ChatCommand => ({
  name: 'answer',
  description: 'answer a question',
  floor: 'GUEST',
  waits: false,
  args: [],
  run: () => Promise.resolve(takeAnswer(asks, answer)),
});
