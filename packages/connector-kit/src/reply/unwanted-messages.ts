import type { BoundedCall } from './bounded-call.ts';
import type { LostPart, Search } from './find-message.ts';
import type { Paced, ReplyPlatform } from './reply-platform.ts';
import type { ReplyState } from './reply-state.ts';
import { faultOf } from './write-fault.ts';

/** What a message is in the place of a text that was taken back where it cannot be removed. */
const blank = '…';

/** Messages of a reply that are, or may be, on the platform and have to go. Every call is one write, but those that are given a pace. */
export type UnwantedMessages = {
  /** Messages from `index` on have to go, or are gone. */
  giveUp(index: number, how: { isGone: boolean }): Promise<void>;
  doomed(): number;
  /** Takes the last of those that have to go away. */
  removeOne(): Promise<void>;
  /** … which cannot be done, nor that one is found: it stays. */
  leaveOne(): void;
  /** Whether a post that is not wanted any more may be on the platform, and can be found. */
  hasStray(): boolean;
  /** Finds it, if it is there: one more that has to go. */
  findStray(paced: Paced): Promise<void>;
};

type Deps = {
  state: ReplyState;
  platform: ReplyPlatform;
  call: BoundedCall;
  /** Whether the platform knows a post by its nonce, so that one that is made again gives the id of the first. */
  knowsNonces: boolean;
  /** Searches for a message of the reply; null where there is none. */
  findAt(part: Pick<LostPart, 'index' | 'nonce'>, search: Search): Promise<string | null>;
  /** The id of the message that is answered. */
  after: string | undefined;
};

export function createUnwantedMessages({ state, platform, call, knowsNonces, findAt, after }: Deps): UnwantedMessages {
  const canTakeBack = platform.remove !== undefined || platform.edit !== undefined;

  /** Gives up the message that may be there. A search that found none settles it, one that found it knows its id. */
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
      // The next one may be there too: it was tried here, or by the process before this one.
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
        // Noted first: to ask for it may post it, and a process killed then would leave it there.
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

/** Of a connector that is not typed it may be anything. A message without an id is there, and cannot be changed. */
export const toId = (id: unknown): string | null => (typeof id === 'string' || typeof id === 'number' ? String(id) : null);
