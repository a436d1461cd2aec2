import { nonceOf, type ReplyRecord, type ReplyRecords } from './reply-record.ts';

/** What may be on the platform without being in the state: nothing, the text as it is now, or an earlier version of it. */
export type Earlier = 'nothing' | 'same' | 'other';

/** A message that may already have been posted: whether with the same text, and whether by this process. `found`: result of a search. */
type Doubt = { index: number; isSame: boolean; isOwn: boolean; found?: string | null };

/** What is known about the messages of one reply: `record` is stored, `doubted` belongs to this process only. */
export type ReplyState = {
  record: ReplyRecord;
  doubted: Doubt | null;
  /** Whether something of it is, or may be, on the platform. */
  isBegun: boolean;
  /** Loads what an earlier process, or an earlier attempt, has stored. `turn`: the reply's turn, when it is known. */
  load(name: string, turn: string | undefined, earlier: Earlier): Promise<void>;
  save(): Promise<void>;
  /** Counts and stores one more write of a growing reply before it is made; this alone does not make the reply begun. */
  countLive(): Promise<void>;
  /** The nonce under which the platform knows a message, or another part, of the reply in this round. */
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
        // A message may have been changed after it was stored, so its text counts as unknown.
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
