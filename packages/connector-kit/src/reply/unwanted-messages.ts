import type { BoundedCall } from './bounded-call.ts';
import type { LostPart, Search } from './find-message.ts';
import type { Paced, ReplyPlatform } from './reply-platform.ts';
import type { ReplyState } from './reply-state.ts';
import { faultOf } from './write-fault.ts';

/** Replaces the text of a withdrawn message that cannot be removed. */
const blank = '…';

/**
 * Messages of a reply that are, or may be, on the platform and must be removed. Each call is one write, except those that take a `paced`.
 */
export type UnwantedMessages = {
  /** Messages from `index` on must be removed, or are gone. */
  giveUp(index: number, how: { isGone: boolean }): Promise<void>;
  doomed(): number;
  /** Removes the last of the messages that must go. */
  removeOne(): Promise<void>;
  /** The last message can be neither removed nor found: it stays. */
  leaveOne(): void;
  /** Whether a post that is no longer wanted may be on the platform, and can be searched for. */
  hasStray(): boolean;
  /** Searches for it; if found, it is one more message to remove. */
  findStray(paced: Paced): Promise<void>;
};

type Deps = {
  state: ReplyState;
  platform: ReplyPlatform;
  call: BoundedCall;
  /** Whether the platform recognizes a repeated post by its nonce, and returns the id of the first. */
  knowsNonces: boolean;
  /** Searches for a message of the reply; null where there is none. */
  findAt(part: Pick<LostPart, 'index' | 'nonce'>, search: Search): Promise<string | null>;
  /** The id of the answered message. */
  after: string | undefined;
};

export function createUnwantedMessages({ state, platform, call, knowsNonces, findAt, after }: Deps): UnwantedMessages {
  const canTakeBack = platform.remove !== undefined || platform.edit !== undefined;

  /** Gives up the message that may exist. A search that found none settles it; one that found it has its id. */
  function loseDoubted(): void {
    const { record, doubted } = state;
    if (doubted === null) return;
    const { index, found } = doubted;
    if (typeof found === 'string' && canTakeBack) record.doomed.push(found);
    if (found === undefined) (record.lost ??= []).push(state.nonceAt(index));
    state.doubted = null;
  }

  async function takeAway(id: string): Promise<void> {
    try {
      await call(async (place) => {
        if (platform.remove === undefined) await platform.edit?.({ ...place, id, text: blank });
        else await platform.remove({ ...place, id });
      });
    } catch (error) {
      if (faultOf(error) !== 'gone') throw error;
    }
  }

  return {
    async giveUp(index, { isGone }) {
      const { record } = state;
      const [first, ...later] = record.messages.splice(index);
      const left = isGone ? later : [first, ...later];
      if (canTakeBack) record.doomed.push(...left.flatMap((message) => message?.id ?? []));
      // The next message may exist too: this process, or an earlier one, tried to post it.
      loseDoubted();
      record.round++;
      await state.save();
    },

    doomed: () => state.record.doomed.length,
    async removeOne() {
      const id = state.record.doomed.at(-1);
      if (id === undefined) return;
      await takeAway(id);
      state.record.doomed.pop();
      await state.save();
    },
    leaveOne() {
      if (state.record.doomed.pop() !== undefined) return;
      if (state.record.lost?.pop() === undefined) state.doubted = null;
    },

    hasStray() {
      const { record, doubted } = state;
      const isDoubted = doubted !== null && (doubted.isOwn || (record.messages.length === 0 && !doubted.isSame));
      return (isDoubted || record.lost?.[0] !== undefined) && canTakeBack && (platform.find !== undefined || knowsNonces);
    },
    async findStray(paced) {
      const index = state.doubted?.index ?? 0;
      if (state.doubted !== null) {
        // Stored first: this search may post it, and a process that is killed then would leave it there.
        loseDoubted();
        state.record.round++; // the nonce is used up
        await state.save();
      }
      const nonce = state.record.lost?.at(-1);
      if (nonce === undefined) return;
      const id = toId(
        platform.find === undefined
          ? await paced(() => call((place) => platform.post({ ...place, text: blank, nonce })))
          : await findAt({ index, nonce }, { answers: after, paced }),
      );
      state.record.lost?.pop();
      if (id !== null) state.record.doomed.push(id);
      await state.save();
    },
  };
}

/** An untyped connector may return anything. A message without an id exists, but cannot be changed. */
export const toId = (id: unknown): string | null => (typeof id === 'string' || typeof id === 'number' ? String(id) : null);
