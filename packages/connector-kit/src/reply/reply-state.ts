import { nonceOf, type ReplyRecord, type ReplyRecords } from './reply-record.ts';

/** What may be there that is not in the state: nothing, the text as it is given now, or an earlier state of it. */
export type Earlier = 'nothing' | 'same' | 'other';

/** A message that may have been posted already: whether with the same text, and whether this process tried it. `found`: what a search came to. */
type Doubt = { index: number; isSame: boolean; isOwn: boolean; found?: string | null };

/** What is known of the messages of one reply: `record` is stored, `doubted` is of this process alone. */
export type ReplyState = {
  record: ReplyRecord;
  doubted: Doubt | null;
  /** Whether something of it is, or may be, on the platform. */
  isBegun: boolean;
  /** Takes over what an earlier process, or another try, has stored. `turn`: of the reply, when it is known. */
  load(name: string, turn: string | undefined, earlier: Earlier): Promise<void>;
  save(): Promise<void>;
  /** Counts and stores one more write of a growing reply, before it is made: by itself it puts nothing on the platform. */
  countLive(): Promise<void>;
  /** By what the platform knows a message, or another part, of the reply in this round. */
  nonceAt(part: number | string): string;
};

export function createReplyState(records: ReplyRecords, chat: string): ReplyState {
  let name = '';
  const state: ReplyState = {
    record: { chat, round: 0, messages: [], doomed: [], cuts: [], extras: 0, at: 0 },
    doubted: null,
    isBegun: false,

    async load(as, turn, earlier) {
      name = as;
      const found = await records.load(name);
      if (found !== undefined) {
        const isOther = found.chat !== chat || isOfAnotherTurn(found, turn);
        // What a message shows may have been changed after it was noted.
        const messages = found.messages.map(({ id }) => ({ id, digest: '' }));
        state.record = isOther ? { ...state.record, round: found.round + 1 } : { ...found, messages };
        state.isBegun = !isOther;
      }
      if (turn !== undefined) state.record.turn = turn;
      const isSure = earlier === 'nothing' && !state.isBegun;
      state.doubted = isSure ? null : { index: state.record.messages.length, isSame: earlier === 'same', isOwn: false };
    },

    save() {
      state.isBegun = true;
      return records.save(name, state.record);
    },

    async countLive() {
      state.record.live = (state.record.live ?? 0) + 1;
      await records.save(name, state.record);
    },

    nonceAt: (part) => nonceOf(name, state.record.round, String(part)),
  };
  return state;
}

const isOfAnotherTurn = ({ done, turn: known }: ReplyRecord, turn: string | undefined): boolean =>
  done === true && turn !== undefined && known !== undefined && known !== turn;
