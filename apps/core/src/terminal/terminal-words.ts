import { createHash } from 'node:crypto';
import type { InjectAnswer } from '@svc/contract/session.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import type { UnreadMail } from '../announcement/unread-mail.ts';
import type { TerminalScreen } from './terminal-screen.ts';
import { asTyped, bare } from './typed-text.ts';
import { createTypist } from './typist.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

/**
 * `message_id`: words with the same one, of the same person, are said once in a session. `withinMs`: how long the answer waits for them to be
 * typed; 15 s unless given.
 */
export type NewWords = {
  conversation_key: string;
  text: string;
  by?: string;
  interrupt?: boolean;
  message_id?: string;
  withinMs?: number;
};

/**
 * What is said into a session whose engine runs in a terminal: it is typed there when the program waits for a message and nobody has begun to type one.
 * It is kept until then, over restarts; when the terminal ends first, it is said over the channel. Either happens once.
 */
export type TerminalWords = {
  /** Null for a session that is in no terminal. Resolves when it is typed, or with why not after a while. @throws ServiceError `bad_request`, `queue_full` */
  say(words: NewWords): Promise<InjectAnswer | null>;
  /** The answer to words that came before and were typed in a terminal, or wait since its end; null for others. */
  earlier(words: NewWords): Promise<InjectAnswer | null>;
  /** There is a new announcement: sessions in terminals that it is for get it as words of their own. */
  announced(): void;
  /** Once, when it is known which terminals there are. */
  resume(): Promise<void>;
  /** A terminal has ended, and its session is the channel's again. */
  released(conversationKey: string): void;
  close(): void;
};

type Deps = {
  store: WordStore;
  screen: TerminalScreen;
  terminals(): readonly Terminal[];
  /** What was said in the terminal of a session since then (epoch ms), also after its end. */
  saidSince(conversationKey: string, since: number): Promise<readonly string[]>;
  /** The announcements that a session has not read. */
  unread(conversationKey: string): Promise<UnreadMail | null>;
  /** Says it as a turn of the session, which has `messageId`. `onAccepted`: from now on the turn is kept. */
  sayOverChannel(words: NewWords & { messageId: string }, onAccepted: () => void): Promise<unknown>;
  /** Whether the session has a message with this id already. */
  hasMessage(conversationKey: string, messageId: string): Promise<boolean>;
  clock: Pick<Clock, 'now' | 'after'>;
  ids: Pick<Ids, 'next'>;
  log: Pick<Log, 'info' | 'error'>;
};

const answerMs = 15_000;
const retryMs = 30_000;
const maxWaiting = 50;

export function createTerminalWords(deps: Deps): TerminalWords {
  const { store, screen, terminals, clock, ids, log } = deps;
  const waiters = new Map<string, (problem: string | null) => void>();
  /** Words that come more than once at a time. */
  const arriving = new Map<string, Promise<InjectAnswer>>();
  const returning = new Map<string, Promise<void>>();
  let announcing = Promise.resolve();
  let isClosed = false;

  const terminalOf = (key: string) => terminals().find(({ conversation_key }) => conversation_key === key);
  const wasSaid = async ({ conversation_key, text, begun_at }: TerminalWord): Promise<boolean> => {
    if (begun_at === null) return false;
    const said = await deps.saidSince(conversation_key, begun_at);
    return said.some((one) => bare(one) === bare(asTyped(text)));
  };
  const typist = createTypist({ screen, store, terminalOf, wasSaid, onTyped: ({ id }) => waiters.get(id)?.(null), clock, log });

  /** One after the other, in their order; what cannot be said now waits, and is tried again. */
  function putBack(key: string, words: readonly TerminalWord[]): void {
    if (words.length === 0) return;
    for (const { id } of words) waiters.get(id)?.(overChannel);
    const before = returning.get(key) ?? Promise.resolve();
    const all = before.then(() => putAllBack(key, [...words])).finally(() => returning.get(key) === all && returning.delete(key));
    returning.set(key, all);
  }
  async function putAllBack(key: string, words: TerminalWord[]): Promise<void> {
    for (let [word] = words; word !== undefined && !isClosed; [word] = words) {
      try {
        if (terminalOf(key) !== undefined) return words.forEach(typist.add); // it is in a terminal again
        await putOneBack(word);
        words.shift();
      } catch (error) {
        log.error({ err: error, conversation_key: key }, 'what a terminal did not take could not be said over the channel yet');
        if (!isClosed) clock.after(retryMs, () => putBack(key, words));
        return;
      }
    }
  }
  async function putOneBack(word: TerminalWord): Promise<void> {
    const { id, conversation_key, text, said_by: by, announced_from, message_id } = word;
    const messageId = message_id ?? id;
    if (await wasSaid(word)) return store.remove(id, clock.now());
    if (announced_from !== null) return store.returnNews({ id, conversation_key, announced_from });
    // The journal had it, and a kill came before this was noted.
    if (!(await deps.hasMessage(conversation_key, messageId))) {
      const accepted = Promise.withResolvers<void>();
      const words = { conversation_key, text, messageId, ...(by !== null && { by }) };
      deps.sayOverChannel(words, accepted.resolve).then(() => accepted.resolve(), accepted.reject);
      try {
        await accepted.promise;
      } catch (error) {
        if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
        log.error({ conversation_key }, 'words for a terminal are dropped: their session is forgotten');
      }
    }
    await store.remove(id, clock.now());
  }

  async function announce(key: string): Promise<void> {
    const unread = await deps.unread(key);
    if (unread === null || terminalOf(key) === undefined) return;
    const { mail, text } = unread;
    const waiting = typist.waiting(key).find(({ announced_from, begun_at }) => announced_from !== null && begun_at === null);
    const word = waiting ?? {
      id: ids.next('word'),
      conversation_key: key,
      text: '',
      said_by: null,
      interrupts: 0,
      begun_at: null,
      announced_from: mail.after,
      message_id: null,
    };
    word.text = word.text === '' ? text : `${word.text}\n${text}`;
    await store.addNews({ ...word, announced_from: word.announced_from ?? mail.after, upTo: mail.upTo }, clock.now());
    if (waiting === undefined) typist.add(word);
    // Typed while it was written down.
    else if (!typist.waiting(key).includes(word)) await store.remove(word.id, clock.now());
  }

  async function sayInTerminal(id: string, words: NewWords, terminal: string): Promise<InjectAnswer> {
    const { conversation_key, text, by = null, interrupt = false, message_id = null, withinMs = answerMs } = words;
    const isWaiting = typist.waiting(conversation_key).some((word) => word.id === id);
    const state = isWaiting || message_id === null ? null : await store.stateOf(id);
    if (state === 'said') return toAnswer(id, null, terminal);
    if (isWaiting || state === 'waits') return answerOf(id, terminal, withinMs);
    if (typist.waiting(conversation_key).length >= maxWaiting)
      throw queueFull(`${maxWaiting} messages wait for this terminal already. Look at it: its program takes none.`);
    const interrupts = interrupt ? 1 : 0;
    const word = { id, conversation_key, text, said_by: by, interrupts, begun_at: null, announced_from: null, message_id };
    await store.add(word, clock.now());
    const answer = answerOf(id, terminal, withinMs);
    if (terminalOf(conversation_key) === undefined) putBack(conversation_key, [word]);
    else typist.add(word);
    return answer;
  }

  async function answerOf(id: string, terminal: string, withinMs: number): Promise<InjectAnswer> {
    const isTyped = Promise.withResolvers<string | null>();
    waiters.set(id, isTyped.resolve);
    const stopWaiting = clock.after(withinMs, () => isTyped.resolve(atWork));
    const deliverErr = await isTyped.promise;
    stopWaiting();
    waiters.delete(id);
    return toAnswer(id, deliverErr, terminal);
  }

  return {
    async say(words) {
      const terminal = terminalOf(words.conversation_key)?.id;
      if (terminal === undefined) return null;
      if (asTyped(words.text).trim() === '') throw badRequest('"text" has nothing that can be typed: no key is pressed by it.');
      const id = idOf(words) ?? ids.next('word');
      const answer = arriving.get(id) ?? sayInTerminal(id, words, terminal).finally(() => arriving.delete(id));
      arriving.set(id, answer);
      return answer;
    },
    async earlier(words) {
      const id = idOf(words);
      const state = id === null ? null : await store.stateOf(id);
      return id === null || state === null ? null : toAnswer(id, state === 'said' ? null : overChannel);
    },
    announced() {
      announcing = announcing
        .then(() => Promise.all(terminals().map(({ conversation_key: key }) => announce(key))))
        .then(
          () => undefined,
          (error: unknown) => log.error({ err: error }, 'announcements could not be put into terminals'),
        );
    },
    async resume() {
      for (const word of await store.all()) {
        if (terminalOf(word.conversation_key) === undefined) putBack(word.conversation_key, [word]);
        else typist.add(word);
      }
    },
    released: (key) => putBack(key, typist.take(key)),
    close() {
      isClosed = true;
      typist.close();
    },
  };
}

/** The same for words that come again. */
const idOf = ({ conversation_key, by, message_id }: NewWords): string | null =>
  message_id === undefined
    ? null
    : `word_${createHash('sha256')
        .update(compositeKey(conversation_key, by ?? null, message_id))
        .digest('hex')
        .slice(0, 32)}`;

const toAnswer = (id: string, deliverErr: string | null, terminal?: string): InjectAnswer => ({
  ok: true,
  reply: '',
  delivered: deliverErr === null,
  deliverErr,
  route: null,
  outcome: 'silent',
  turn_id: id,
  ...(terminal !== undefined && { terminal }),
});

const overChannel = 'the terminal has ended: it is said over the channel';
const atWork = 'the terminal is at work, or a person types there: it is typed as soon as it waits for a message';
