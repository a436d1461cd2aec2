import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { toName } from '../trust/shown-name.ts';
import { fromParts, partsOf } from './amend/changed-turn.ts';
import type { LiveTurn } from './live-turns.ts';
import { originOf, rightsKey, rightsOfAnyone } from './origin.ts';
import { outboundTarget } from './route-of.ts';
import type { Ticket } from './ticket.ts';
import { toResult } from './to-result.ts';
import type { TurnJournal } from './turn-journal.ts';
import { inputOf } from './turn-row.ts';
import type { TurnQueue } from './turn-queue.ts';
import type { Turn } from './turn.ts';

type Deps = {
  journal: Pick<TurnJournal, 'keepInput' | 'end'>;
  turnQueue: Pick<TurnQueue, 'enter'>;
  clock: Clock;
  /** Runs a turn that is in the journal, in the place that was taken for it. */
  run(live: LiveTurn, ticket: Ticket): Promise<HandleResult>;
};

type Member = { live: LiveTurn; name: string; answer: PromiseWithResolvers<HandleResult> };
type MessageBatch = { key: string; rights: string; members: Member[]; closesBy: number; cancel: () => void };

/** A batch that never pauses is answered after this many times its quiet time, or this many messages. */
const longestStretch = 5;
const maxMembers = 32;
/** Most batches open at once; beyond it, messages are not gathered. */
const maxBatches = 1000;

/** Messages are merged only if they come from one person or one room, in one place, and are answered in the same chat. */
const nameOf = ({ envelope, instanceId }: Turn, identity: Identity): string =>
  compositeKey(
    envelope.conversation_key,
    ...(isRoom(envelope) ? [envelope.channel, envelope.public === true] : [originOf(envelope), rightsKey(identity)]),
    instanceId,
    outboundTarget(envelope.channel_context),
  );

const isRoom = ({ intake }: Envelope): boolean => intake?.gather === 'conversation';

/** Messages that an instance gathers until their sender, or the room, pauses; they become one turn. */
export interface MessageBatches {
  takes(envelope: Envelope): boolean;
  /** Gathers a turn that is in the journal. */
  add(live: LiveTurn, identity: Identity): Promise<HandleResult>;
  has(key: string): boolean;
  /** Answers what is being gathered in a conversation now: what follows is not gathered with it, and must not overtake it. */
  endIn(key: string): void;
  /** Ends what is being gathered in a conversation. False when nothing is. */
  abort(key: string): boolean;
  /** Gathered messages stay in the journal and run after the restart. */
  close(): void;
}

/**
 * Merges messages that follow each other closely into one turn, in order: people write in pieces. In a room that is gathered
 * as one, they must come from people with the same rights: a message of someone with other rights ends the batch before it.
 * Every message is in the journal before it waits here. The caller of the last one gets the answer; the others learn that
 * theirs was merged.
 */
export function createMessageBatches({ journal, turnQueue, clock, run }: Deps): MessageBatches {
  const open = new Map<string, MessageBatch>();

  function add(live: LiveTurn, identity: Identity): Promise<HandleResult> {
    const { envelope } = live.turn;
    const quietMs = envelope.intake?.debounce_ms ?? 0;
    const name = nameOf(live.turn, identity);
    const rights = rightsOfAnyone(identity);
    const before = open.get(name);
    if (before !== undefined && before.rights !== rights) endNow(name, before);
    const batch =
      open.get(name) ??
      begin(name, { key: envelope.conversation_key, rights, closesBy: clock.elapsed() + quietMs * longestStretch });
    const answer = Promise.withResolvers<HandleResult>();
    const member: Member = { live, answer, name: toName(identity.display_name) ?? 'someone' };
    batch.members.push(member);
    live.abort = () => leave(name, batch, member);
    batch.cancel();
    const waitMs = batch.members.length >= maxMembers ? 0 : Math.min(quietMs, batch.closesBy - clock.elapsed());
    batch.cancel = clock.after(Math.max(0, waitMs), () => void finish(name, batch));
    live.sink({ type: 'queued', position: 0 });
    return answer.promise;
  }

  /** The batch takes its place in the queue before this returns. */
  function endNow(name: string, batch: MessageBatch): void {
    batch.cancel();
    void finish(name, batch);
  }

  function begin(name: string, of: Pick<MessageBatch, 'key' | 'rights' | 'closesBy'>): MessageBatch {
    const batch: MessageBatch = { ...of, members: [], cancel: () => undefined };
    open.set(name, batch);
    return batch;
  }

  async function finish(name: string, batch: MessageBatch): Promise<void> {
    // A deleted message is left out, even while its deletion is still being written.
    for (const member of batch.members.filter(({ live }) => live.turn.isDropped === true)) leave(name, batch, member);
    open.delete(name);
    const last = batch.members.at(-1);
    if (last === undefined) return;
    try {
      last.answer.resolve(await runMerged(batch, last.live));
    } catch (error) {
      for (const member of batch.members) member.answer.reject(error);
    }
  }

  async function runMerged({ key, members }: MessageBatch, live: LiveTurn): Promise<HandleResult> {
    // It takes its place in the queue before anything is awaited.
    const ticket = turnQueue.enter(key, { unlimited: true });
    try {
      const others = members.slice(0, -1);
      if (others.length > 0) {
        live.turn = fromParts(
          live.turn,
          members.flatMap((member) => partsOf(member.live.turn, member.name)),
        );
        for (const other of others) other.live.turn = { ...other.live.turn, parts: [] };
        const input = await latestInput(live);
        // Begun in one tick, so committed as one: no message is ever both merged and still to be run.
        for (const other of others) end(other, 'merged').catch(other.answer.reject);
        await journal.keepInput(live.turn, input);
        live.accepted(); // watchers see it begin with its whole text
      }
      return await run(live, ticket);
    } finally {
      ticket.leave();
    }
  }

  /** A message that was deleted while it was gathered. */
  function leave(name: string, batch: MessageBatch, member: Member): void {
    const at = open.get(name) === batch ? batch.members.indexOf(member) : -1;
    if (at === -1) return;
    batch.members.splice(at, 1);
    end(member, 'aborted').catch(member.answer.reject);
    if (batch.members.length > 0) return;
    open.delete(name);
    batch.cancel();
  }

  async function end({ live, answer }: Member, outcome: 'merged' | 'aborted'): Promise<void> {
    const ended = toResult(live.turn, outcome, '');
    await journal.end(live.turn, ended, false);
    await live.flush();
    answer.resolve(ended);
  }

  return {
    takes: ({ intake }: Envelope): boolean => (intake?.debounce_ms ?? 0) > 0 && open.size < maxBatches,

    add,

    has: (key: string): boolean => [...open.values()].some((batch) => batch.key === key),

    endIn(key: string): void {
      for (const [name, batch] of open) if (batch.key === key) endNow(name, batch);
    },

    abort(key: string): boolean {
      const batches = [...open].filter(([, batch]) => batch.key === key);
      for (const [name, batch] of batches) {
        open.delete(name);
        batch.cancel();
        for (const member of batch.members) end(member, 'aborted').catch(member.answer.reject);
      }
      return batches.length > 0;
    },

    close(): void {
      for (const { cancel, members } of open.values()) {
        cancel();
        for (const { answer } of members) answer.reject(unavailable('The service is stopping. Your message is kept.'));
      }
      open.clear();
    },
  };
}

/** The input of the turn's latest state: one of its messages may be changed while the input is written. */
async function latestInput(live: LiveTurn): Promise<string> {
  for (;;) {
    const { turn } = live;
    const input = await inputOf(turn);
    if (live.turn === turn) return input;
  }
}
