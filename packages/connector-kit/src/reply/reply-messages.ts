import type { Clock } from '@svc/service-kit/clock.ts';
import { createBoundedCall } from './bounded-call.ts';
import { createFindMessage, type Search } from './find-message.ts';
import type { Paced, Place, ReplyPlatform } from './reply-platform.ts';
import { digestOf, nonceOf, type ReplyRecord, type ReplyRecords } from './reply-record.ts';
import { faultOf } from './write-fault.ts';

/**
 * What becomes of a post of which nobody knows whether the platform took it, because its answer was lost or this process was killed.
 * `nonce`: it is posted again, and the platform knows it by its nonce. `repeat`: it is posted again, and shown twice at worst.
 * `skip`: a finished text is not posted again, and missing at worst.
 */
export type Unsure = 'nonce' | 'repeat' | 'skip';

/** What may be there that is not in the state: nothing, the text as it is given now, or an earlier state of it. */
export type Earlier = 'nothing' | 'same' | 'other';

/** A message that may have been posted already: whether with the same text, and whether this process tried it. `found`: what a search came to. */
type Doubt = { index: number; isSame: boolean; isOwn: boolean; found?: string | null };

export type MessagesOptions = {
  platform: ReplyPlatform;
  records: ReplyRecords;
  clock: Clock;
  chat: string;
  unsure: Unsure;
  /** The id of a message that is there before all of them: the one that is answered. */
  after?: string;
  /** How long an answer of the platform is waited for, ms. */
  callMs: number;
};

/** What a message is in the place of a text that was taken back where it cannot be removed. */
const blank = '…';

/** The messages of one reply, in their order, as they are on the platform and in the state. Every call is one write, but those that are given a pace. */
export type ReplyMessages = {
  /** Looks up what an earlier process, or another try, has shown. To be called first. `turn`: of the reply, when it is known. */
  open(name: string, turn: string | undefined, earlier: Earlier): Promise<void>;
  count(): number;
  shows(index: number, text: string): boolean;
  canEdit(index: number): boolean;
  isDone(): boolean;
  /** How often messages have been given up. */
  rounds(): number;
  cuts(): readonly number[];
  /** The next message may be there already, and has to be looked for before it is posted. */
  mustFind(): boolean;
  find(text: string, how: Search): Promise<void>;
  post(text: string, how: { isFinal: boolean; cuts: readonly number[]; answers?: string }): Promise<void>;
  edit(index: number, text: string): Promise<void>;
  /** How often it was written while it grew, by earlier processes too. */
  liveWrites(): number;
  /** Counts one more, before it is made: who ends the process must not gain any. */
  countLive(): Promise<void>;
  canDraft(): boolean;
  /** Shows the message to come as a draft. False where the chat has none. */
  draft(text: string): Promise<boolean>;
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
  extras(): number;
  /** Does what is no text, under a nonce of its own, once. */
  extra(work: (place: Place & { nonce: string }) => Promise<unknown>): Promise<void>;
  finish(): Promise<void>;
};

export function createReplyMessages(options: MessagesOptions): ReplyMessages {
  const { platform, records, clock, chat, unsure, callMs } = options;
  let name = '';
  let record: ReplyRecord = { chat, round: 0, messages: [], doomed: [], cuts: [], extras: 0, at: 0 };
  /** Something of it is, or may be, on the platform. */
  let isBegun = false;
  let doubted: Doubt | null = null;

  const nonceAt = (index: number) => nonceOf(name, record.round, String(index));
  /** Gives up a message that may be there. A search that found none settles it, one that found it knows its id. */
  const lose = ({ index, found }: Doubt): void => {
    if (typeof found === 'string' && canTakeBack) record.doomed.push(found);
    if (found === undefined) (record.lost ??= []).push(nonceAt(index));
    doubted = null;
  };
  const canTakeBack = platform.remove !== undefined || platform.edit !== undefined;

  const call = createBoundedCall(clock, chat, callMs);
  const findMessage = createFindMessage(platform, call);
  const findAt = (index: number, nonce: string, search: Search): Promise<string | null> =>
    findMessage({ index, nonce, before: index === 0 ? options.after : record.messages[index - 1]?.id }, search);
  const save = (): Promise<void> => {
    isBegun = true;
    return records.save(name, record);
  };

  /** `isOld`: the platform had it already, with a text that is not known. */
  async function postOnce(text: string, answers?: string): Promise<{ id: string | null; isOld: boolean }> {
    const index = record.messages.length;
    const nonce = nonceAt(index);
    const isDoubted = doubted?.index === index;
    const isOld = isDoubted && doubted?.isSame === false && platform.edit !== undefined;
    const found = isDoubted ? (doubted?.found ?? null) : null;
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
    async open(as, turn, earlier) {
      name = as;
      const found = await records.load(name);
      if (found !== undefined) {
        const isOther =
          found.chat !== chat || (found.done === true && turn !== undefined && found.turn !== undefined && found.turn !== turn);
        // What a message shows may have been changed after it was noted.
        const messages = found.messages.map(({ id }) => ({ id, digest: '' }));
        record = isOther ? { ...record, round: found.round + 1 } : { ...found, messages };
        isBegun = !isOther;
      }
      if (turn !== undefined) record.turn = turn;
      const isSure = earlier === 'nothing' && !isBegun;
      doubted = isSure ? null : { index: record.messages.length, isSame: earlier === 'same', isOwn: false };
    },

    count: () => record.messages.length,
    shows: (index, text) => record.messages[index]?.digest === digestOf(text),
    canEdit: (index) => platform.edit !== undefined && record.messages[index]?.id !== null,
    isDone: () => record.done === true,
    rounds: () => record.round,
    cuts: () => record.cuts,

    mustFind: () => platform.find !== undefined && doubted?.index === record.messages.length && doubted.found === undefined,
    async find(text, { answers, paced }) {
      const index = record.messages.length;
      const found = await findAt(index, nonceAt(index), { answers, text, paced });
      if (doubted?.index === index) doubted.found = found;
    },

    async post(text, { isFinal, cuts, answers }) {
      const index = record.messages.length;
      const digest = digestOf(text);
      const isCutAnew = cuts.length !== record.cuts.length;
      record.cuts = [...cuts];
      // What stands where it is cannot be changed: where it ends has to be known before it is there.
      if (isCutAnew && platform.edit === undefined) await save();
      if (isFinal && unsure === 'skip') {
        if (record.intent === index) return add(null);
        record.intent = index;
        await save();
      }
      async function add(id: string | null, known = digest): Promise<void> {
        record.messages.push({ id, digest: known });
        delete record.intent;
        doubted = null;
        await save();
      }
      try {
        const { id, isOld } = await postOnce(text, answers);
        await add(id, isOld ? '' : digest);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === 'unknown') doubted = { index, isSame: isFinal && doubted?.index !== index, isOwn: true };
        if (record.intent !== index) throw error;
        if (fault === 'unknown') return add(null);
        delete record.intent;
        await save();
        throw error;
      }
    },

    async edit(index, text) {
      const message = record.messages[index];
      const id = message?.id ?? null;
      if (message === undefined || id === null) return;
      message.digest = '';
      await call((place) => platform.edit?.({ ...place, id, text }) ?? noEdit);
      message.digest = digestOf(text);
    },

    liveWrites: () => record.live ?? 0,
    async countLive() {
      record.live = (record.live ?? 0) + 1;
      await records.save(name, record);
    },

    canDraft: () => platform.draft !== undefined,
    draft: (text) =>
      call(async (place) => (await platform.draft?.({ ...place, text, nonce: nonceAt(record.messages.length) })) === true),

    async giveUp(index, { isGone }) {
      const [first, ...later] = record.messages.splice(index);
      const left = isGone ? later : [first, ...later];
      if (canTakeBack) record.doomed.push(...left.flatMap((message) => message?.id ?? []));
      // The next one may be there too: it was tried here, or by the process before this one.
      if (doubted !== null) lose(doubted);
      record.round++;
      await save();
    },

    doomed: () => record.doomed.length,
    async removeOne() {
      const id = record.doomed.at(-1);
      if (id === undefined) return;
      const gone = (error: unknown) => {
        if (faultOf(error) !== 'gone') throw error;
      };
      await call(async (place) => {
        if (platform.remove === undefined) await platform.edit?.({ ...place, id, text: blank });
        else await platform.remove({ ...place, id });
      }).catch(gone);
      record.doomed.pop();
      await save();
    },
    leaveOne() {
      if (record.doomed.pop() !== undefined) return;
      if (record.lost?.pop() === undefined) doubted = null;
    },

    hasStray() {
      const isDoubted = doubted !== null && (doubted.isOwn || (record.messages.length === 0 && !doubted.isSame));
      return (isDoubted || record.lost?.[0] !== undefined) && canTakeBack && (platform.find !== undefined || unsure === 'nonce');
    },
    async findStray(paced) {
      const { find, post } = platform;
      const index = doubted?.index ?? 0;
      if (doubted !== null) {
        // Noted first: to ask for it may post it, and a process killed then would leave it there.
        lose(doubted);
        record.round++; // the nonce is used up
        await save();
      }
      const nonce = record.lost?.at(-1);
      if (nonce === undefined) return;
      const id = toId(
        find === undefined
          ? await paced(() => call((place) => post({ ...place, text: blank, nonce })))
          : await findAt(index, nonce, { answers: options.after, paced }),
      );
      record.lost?.pop();
      if (id !== null) record.doomed.push(id);
      await save();
    },

    extras: () => record.extras,
    async extra(work) {
      const nonce = nonceOf(name, record.round, `extra ${record.extras}`);
      await call((place) => work({ ...place, nonce }));
      record.extras++;
      await save();
    },

    async finish() {
      if (!isBegun) return;
      record = { ...record, messages: [], doomed: [], cuts: [], done: true };
      delete record.intent;
      delete record.lost;
      await save();
    },
  };
}

/** Of a connector that is not typed it may be anything. A message without an id is there, and cannot be changed. */
const toId = (id: unknown): string | null => (typeof id === 'string' || typeof id === 'number' ? String(id) : null);

const noEdit = Promise.resolve();
