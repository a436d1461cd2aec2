import { createHash } from 'node:crypto';
import type { InjectAnswer } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, queueFull } from '@svc/service-kit/service-error.ts';
import { createAnnouncedWords, type AnnouncedDeps } from './announced-words.ts';
import { createReturnedWords, type ChannelDeps } from './returned-words.ts';
import type { TerminalScreen } from './terminal-screen.ts';
import { asTyped, bare } from './typed-text.ts';
import { createTypist } from './typist.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

/**
 * `message_id`: messages with the same id from the same person are delivered once per session. `withinMs`: how long the answer waits for
 * the message to be typed; 15 s by default.
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
 * Messages for a session whose engine runs in a terminal. A message is typed when the program waits for input and nobody has begun to type.
 * Until then it is stored and survives restarts; when the terminal ends first, it is sent over the channel. Either happens exactly once.
 */
export type TerminalWords = {
  /**
   * Null for a session that is in no terminal. Resolves when the message is typed or, after a while, with the reason why it is not.
   * @throws ServiceError `bad_request`, `queue_full`
   */
  say(words: NewWords): Promise<InjectAnswer | null>;
  /** The answer to a repeated message that was typed in a terminal or still waits since the terminal ended; null for any other message. */
  earlier(words: NewWords): Promise<InjectAnswer | null>;
  /** Called for each new announcement: addressed sessions in terminals get it as a message. */
  announced(): void;
  /** Called once, when the open terminals are known. */
  resume(): Promise<void>;
  /** A terminal has ended, and its session has returned to the channel. */
  released(conversationKey: string): void;
  close(): void;
};

type Deps = ChannelDeps &
  AnnouncedDeps & {
    store: WordStore;
    screen: TerminalScreen;
    /** What was said in a session's terminal since then (epoch ms), also after the terminal has ended. */
    saidSince(conversationKey: string, since: number): Promise<readonly string[]>;
    clock: Pick<Clock, 'now' | 'after'>;
    ids: Pick<Ids, 'next'>;
    log: Pick<Log, 'info' | 'error'>;
  };

const answerMs = 15_000;
const maxWaiting = 50;

export function createTerminalWords(deps: Deps): TerminalWords {
  const { store, screen, terminals, clock, ids, log } = deps;
  /** Callers that wait for their message to be typed, by the message's id: they get null when it is typed, else the reason why not. */
  const waiters = new Map<string, (problem: string | null) => void>();
  /** Messages in acceptance, so that a concurrent repeat gets the same answer. */
  const arriving = new Map<string, Promise<InjectAnswer>>();

  const terminalOf = (key: string) => terminals().find(({ conversation_key }) => conversation_key === key);
  const wasSaid = async ({ conversation_key, text, begun_at }: TerminalWord): Promise<boolean> => {
    if (begun_at === null) return false;
    const said = await deps.saidSince(conversation_key, begun_at);
    return said.some((one) => bare(one) === bare(asTyped(text)));
  };
  const typist = createTypist({ screen, store, terminalOf, wasSaid, onTyped: ({ id }) => waiters.get(id)?.(null), clock, log });
  const returned = createReturnedWords({
    ...deps,
    wasSaid,
    isInTerminal: (key) => terminalOf(key) !== undefined,
    toTerminal: typist.add,
  });

  function putBack(key: string, words: readonly TerminalWord[]): void {
    for (const { id } of words) waiters.get(id)?.(overChannel);
    returned.add(key, words);
  }

  /** Hands a message to its session's terminal, or to the channel when the session is in no terminal any more. */
  function hand(word: TerminalWord): void {
    if (terminalOf(word.conversation_key) === undefined) putBack(word.conversation_key, [word]);
    else typist.add(word);
  }

  async function sayInTerminal(id: string, words: NewWords, terminal: string): Promise<InjectAnswer> {
    const { conversation_key, text, by = null, interrupt = false, message_id = null, withinMs = answerMs } = words;
    const isWaiting = typist.waiting(conversation_key).some((word) => word.id === id);
    const state = isWaiting || message_id === null ? null : await store.stateOf(id);
    if (state === 'said') return toAnswer(id, null, terminal);
    if (isWaiting || state === 'waits') return answerOf(id, terminal, withinMs);
    if (typist.waiting(conversation_key).length >= maxWaiting)
      throw queueFull(
        `${maxWaiting} messages are already waiting for this terminal, and its program takes none. Look at the terminal.`,
      );
    const interrupts = interrupt ? 1 : 0;
    const word = { id, conversation_key, text, said_by: by, interrupts, begun_at: null, announced_from: null, message_id };
    await store.add(word, clock.now());
    const answer = answerOf(id, terminal, withinMs);
    hand(word);
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
      if (asTyped(words.text).trim() === '') throw badRequest('"text" has no characters that can be typed.');
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
    announced: createAnnouncedWords({ ...deps, typist }),
    async resume() {
      for (const word of await store.all()) hand(word);
    },
    released: (key) => putBack(key, typist.take(key)),
    close() {
      returned.close();
      typist.close();
    },
  };
}

/** The same id for a repeated message. */
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

const overChannel = 'the terminal has ended: the message is handled on the channel instead';
const atWork = 'the terminal is busy, or a person is typing there: the message is typed as soon as the terminal waits for one';
