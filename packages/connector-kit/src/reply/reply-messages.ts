import type { Clock } from '@svc/service-kit/clock.ts';
import { createBoundedCall } from './bounded-call.ts';
import { createFindMessage, type LostPart, type Search } from './find-message.ts';
import type { Place, ReplyPlatform } from './reply-platform.ts';
import { digestOf, type ReplyRecords } from './reply-record.ts';
import { createReplyState, type Earlier } from './reply-state.ts';
import { createUnwantedMessages, toId, type UnwantedMessages } from './unwanted-messages.ts';
import { faultOf } from './write-fault.ts';

/**
 * What happens to a post whose outcome is unknown, because the answer was lost or this process was killed.
 * `nonce`: it is posted again, and the platform recognizes it by its nonce. `repeat`: it is posted again, and shown twice at worst. `skip`:
 * a finished text is not posted again, and missing at worst.
 */
export type Unsure = 'nonce' | 'repeat' | 'skip';

export type MessagesOptions = {
  platform: ReplyPlatform;
  records: ReplyRecords;
  clock: Clock;
  chat: string;
  unsure: Unsure;
  /** The id of a message that precedes all of them: the one that is answered. */
  after?: string;
  /** Timeout of one call to the platform, ms. */
  callMs: number;
};

/**
 * The messages of one reply, in order, as they are on the platform and in the state. Each call is one write, except those that take a
 * `paced`.
 */
export type ReplyMessages = UnwantedMessages & {
  /**
   * Looks up what an earlier process, or an earlier attempt, has shown. Must be called first. `turn`: the reply's turn, when it is known.
   */
  open(name: string, turn: string | undefined, earlier: Earlier): Promise<void>;
  count(): number;
  shows(index: number, text: string): boolean;
  canEdit(index: number): boolean;
  isDone(): boolean;
  /** How often messages have been given up. */
  rounds(): number;
  cuts(): readonly number[];
  /** The next message may already exist, and must be searched for before it is posted. */
  mustFind(): boolean;
  find(text: string, how: Search): Promise<void>;
  post(text: string, how: { isFinal: boolean; cuts: readonly number[]; answers?: string }): Promise<void>;
  edit(index: number, text: string): Promise<void>;
  /**
   * Ms before a final text may be sent to a message: the platform may still hold an edit whose connection broke, and apply it after
   * the next one.
   */
  heldEditMs(index: number): number;
  /** How often the reply was written while it grew, including by earlier processes. */
  liveWrites(): number;
  /** Counts one more write before it is made, so that ending the process never gains extra writes. */
  countLive(): Promise<void>;
  canDraft(): boolean;
  /** Shows the next message as a draft. False where the chat has no drafts. */
  draft(text: string): Promise<boolean>;
  extras(): number;
  /** Runs, once and under its own nonce, a part that is not text. */
  extra(work: (place: Place & { nonce: string }) => Promise<unknown>): Promise<void>;
  finish(): Promise<void>;
};

/** How long a platform may take to apply an edit after its connection broke, ms. */
const longestHeldMs = 1000;

export function createReplyMessages(options: MessagesOptions): ReplyMessages {
  const { platform, records, clock, chat, unsure, callMs, after } = options;
  const state = createReplyState(records, chat);
  const { nonceAt, save } = state;
  const call = createBoundedCall(clock, chat, callMs);
  const findMessage = createFindMessage(platform, call);
  const findAt = ({ index, nonce }: Pick<LostPart, 'index' | 'nonce'>, search: Search): Promise<string | null> =>
    findMessage({ index, nonce, before: index === 0 ? after : state.record.messages[index - 1]?.id }, search);
  /** By message id. */
  const heldUntil = new Map<string, number>();
  const unwanted = createUnwantedMessages({ state, platform, call, knowsNonces: unsure === 'nonce', findAt, after });

  /** `isOld`: the platform already had it, with an unknown text. */
  async function postOnce(text: string, answers?: string): Promise<{ id: string | null; isOld: boolean }> {
    const { record, doubted } = state;
    const index = record.messages.length;
    const nonce = nonceAt(index);
    const isDoubted = doubted?.index === index;
    const isOld = isDoubted && !doubted.isSame && platform.edit !== undefined;
    const found = isDoubted ? (doubted.found ?? null) : null;
    if (found !== null) return { id: found, isOld };
    const id = await call((place) =>
      platform.post({
        ...place,
        text,
        nonce,
        ...(answers !== undefined && { about: answers, ...(index === 0 && { answers }) }),
      }),
    );
    return { id: toId(id), isOld: isOld && unsure === 'nonce' };
  }

  return {
    ...unwanted,
    open: (name, turn, earlier) => state.load(name, turn, earlier),

    count: () => state.record.messages.length,
    shows: (index, text) => state.record.messages[index]?.digest === digestOf(text),
    canEdit: (index) => platform.edit !== undefined && state.record.messages[index]?.id !== null,
    isDone: () => state.record.done === true,
    rounds: () => state.record.round,
    cuts: () => state.record.cuts,

    mustFind: () =>
      platform.find !== undefined && state.doubted?.index === state.record.messages.length && state.doubted.found === undefined,
    async find(text, { answers, paced }) {
      const index = state.record.messages.length;
      const found = await findAt({ index, nonce: nonceAt(index) }, { answers, text, paced });
      if (state.doubted?.index === index) state.doubted.found = found;
    },

    async post(text, { isFinal, cuts, answers }) {
      const index = state.record.messages.length;
      const digest = digestOf(text);
      const hasNewCuts = cuts.length !== state.record.cuts.length;
      state.record.cuts = [...cuts];
      // A message that cannot be edited must have its end stored before it is posted.
      if (hasNewCuts && platform.edit === undefined) await save();
      if (isFinal && unsure === 'skip') {
        if (state.record.intent === index) return add(null);
        state.record.intent = index;
        await save();
      }
      async function add(id: string | null, known = digest): Promise<void> {
        state.record.messages.push({ id, digest: known });
        delete state.record.intent;
        state.doubted = null;
        await save();
      }
      try {
        const { id, isOld } = await postOnce(text, answers);
        await add(id, isOld ? '' : digest);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === 'unknown') state.doubted = { index, isSame: isFinal && state.doubted?.index !== index, isOwn: true };
        if (state.record.intent !== index) throw error;
        if (fault === 'unknown') return add(null);
        delete state.record.intent;
        await save();
        throw error;
      }
    },

    async edit(index, text) {
      const message = state.record.messages[index];
      const id = message?.id ?? null;
      if (message === undefined || id === null) return;
      message.digest = '';
      try {
        await call((place) => platform.edit?.({ ...place, id, text }) ?? noEdit);
      } catch (error) {
        if (faultOf(error) === 'unknown') heldUntil.set(id, clock.elapsed() + longestHeldMs);
        throw error;
      }
      message.digest = digestOf(text);
    },
    heldEditMs: (index) => Math.max(0, (heldUntil.get(state.record.messages[index]?.id ?? '') ?? 0) - clock.elapsed()),

    liveWrites: () => state.record.live ?? 0,
    countLive: state.countLive,

    canDraft: () => platform.draft !== undefined,
    draft: (text) =>
      call(async (place) => (await platform.draft?.({ ...place, text, nonce: nonceAt(state.record.messages.length) })) === true),

    extras: () => state.record.extras,
    async extra(work) {
      const nonce = nonceAt(`extra ${state.record.extras}`);
      await call((place) => work({ ...place, nonce }));
      state.record.extras++;
      await save();
    },

    async finish() {
      if (!state.isBegun) return;
      state.record = { ...state.record, messages: [], doomed: [], cuts: [], done: true };
      delete state.record.intent;
      delete state.record.lost;
      await save();
    },
  };
}

const noEdit = Promise.resolve();
