import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

/** Messages that a terminal had not taken before it ended: they are sent over the channel, one after the other, in order. */
export type ReturnedWords = {
  add(conversationKey: string, words: readonly TerminalWord[]): void;
  /** Messages not sent yet stay stored. */
  close(): void;
};

export type ChannelDeps = {
  /** Sends a message as a turn of the session, with this `messageId`. Calls `onAccepted` once the turn is stored. */
  sayOverChannel(
    words: { conversation_key: string; text: string; by?: string; messageId: string },
    onAccepted: () => void,
  ): Promise<unknown>;
  /** Whether the session already has a message with this id. */
  hasMessage(conversationKey: string, messageId: string): Promise<boolean>;
};

type Deps = ChannelDeps & {
  store: Pick<WordStore, 'remove' | 'returnNews'>;
  isInTerminal(conversationKey: string): boolean;
  wasSaid(word: TerminalWord): Promise<boolean>;
  /** Takes messages whose session is in a terminal again. */
  toTerminal(word: TerminalWord): void;
  clock: Pick<Clock, 'now' | 'after'>;
  log: Pick<Log, 'error'>;
};

/** The delay before a message that cannot be sent is tried again. */
const retryMs = 30_000;

export function createReturnedWords(deps: Deps): ReturnedWords {
  const { store, clock, log } = deps;
  /** The last send in progress of each session. */
  const saying = new Map<string, Promise<void>>();
  let isClosed = false;

  function add(key: string, words: readonly TerminalWord[]): void {
    if (words.length === 0) return;
    const before = saying.get(key) ?? Promise.resolve();
    const all = before.then(() => sayAll(key, [...words])).finally(() => saying.get(key) === all && saying.delete(key));
    saying.set(key, all);
  }

  async function sayAll(key: string, words: TerminalWord[]): Promise<void> {
    for (let [word] = words; word !== undefined && !isClosed; [word] = words) {
      try {
        if (deps.isInTerminal(key)) return words.forEach(deps.toTerminal);
        await say(word);
        words.shift();
      } catch (error) {
        log.error(
          { err: error, conversation_key: key },
          'a message that a terminal did not take could not be handled on the channel yet',
        );
        if (!isClosed) clock.after(retryMs, () => add(key, words));
        return;
      }
    }
  }

  async function say(word: TerminalWord): Promise<void> {
    const { id, conversation_key, announced_from } = word;
    const messageId = word.message_id ?? id;
    if (await deps.wasSaid(word)) return store.remove(id, clock.now());
    if (announced_from !== null) return store.returnNews({ id, conversation_key, announced_from });
    // The journal has it already: the process was killed before the message was removed.
    if (!(await deps.hasMessage(conversation_key, messageId))) await sayOverChannel(word, messageId);
    await store.remove(id, clock.now());
  }

  /** Resolves when the turn is stored, or can never be accepted. */
  async function sayOverChannel({ conversation_key, text, said_by: by }: TerminalWord, messageId: string): Promise<void> {
    const accepted = Promise.withResolvers<void>();
    const words = { conversation_key, text, messageId, ...(by !== null && { by }) };
    deps.sayOverChannel(words, accepted.resolve).then(() => accepted.resolve(), accepted.reject);
    try {
      await accepted.promise;
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
      log.error({ conversation_key }, 'messages for a terminal are dropped: their session was forgotten');
    }
  }

  return { add, close: () => void (isClosed = true) };
}
