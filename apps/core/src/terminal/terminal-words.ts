import type { InjectAnswer } from '@svc/contract/session.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import { listens, type Screen } from './listening.ts';
import type { TerminalScreen } from './terminal-screen.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

export type NewWords = { conversation_key: string; text: string; by?: string; interrupt?: boolean };

/**
 * What is said into a session whose engine runs in a terminal: it is typed there when the program waits for a message and nobody has begun to type one.
 * It is kept until then, over restarts; when the terminal ends first, it is said over the channel.
 */
export type TerminalWords = {
  /** Null for a session that is in no terminal. Resolves when it is typed, or with why not after a while. @throws ServiceError `queue_full` */
  say(words: NewWords): Promise<InjectAnswer | null>;
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
  /** Says it as a turn of the session. */
  sayOverChannel(words: NewWords): Promise<unknown>;
  clock: Pick<Clock, 'now' | 'after'>;
  ids: Pick<Ids, 'next'>;
  log: Pick<Log, 'info' | 'error'>;
};

const lookMs = 400;
/** A program that works shows it by something that moves at least each second. */
const quietLooks = 4;
const answerMs = 15_000;
const maxWaiting = 50;
/** Some programs take an Enter that follows at once for a part of what was pasted. */
const beforeEnterMs = 200;

/** A terminal with words that wait for it. */
type Line = { words: TerminalWord[]; seen: string; quiet: number; isInterrupted: boolean };

export function createTerminalWords({ store, screen, terminals, sayOverChannel, clock, ids, log }: Deps): TerminalWords {
  const lines = new Map<string, Line>();
  const typed = new Map<string, () => void>();
  let cancel: (() => void) | null = null;
  let isClosed = false;

  const terminalOf = (key: string) => terminals().find(({ conversation_key }) => conversation_key === key);
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

  const add = (word: TerminalWord): void => {
    const line = lines.get(word.conversation_key) ?? { words: [], seen: '', quiet: 0, isInterrupted: false };
    line.words.push(word);
    lines.set(word.conversation_key, line);
    lookSoon();
  };
  const done = (word: TerminalWord): void => {
    const line = lines.get(word.conversation_key);
    line?.words.splice(line.words.indexOf(word), 1);
    if (line?.words.length === 0) lines.delete(word.conversation_key);
    typed.get(word.id)?.();
  };

  function lookSoon(): void {
    if (isClosed || cancel !== null || lines.size === 0) return;
    cancel = clock.after(lookMs, () => void lookAtAll());
  }
  async function lookAtAll(): Promise<void> {
    await Promise.all([...lines].map(([key, line]) => look(key, line).catch((error: unknown) => failed(key, error))));
    cancel = null;
    lookSoon();
  }
  const failed = (key: string, error: unknown): void => {
    const line = lines.get(key);
    if (line !== undefined) line.quiet = 0;
    log.error({ err: error, conversation_key: key }, 'what was said into a terminal could not be typed yet');
  };

  async function look(key: string, line: Line): Promise<void> {
    const terminal = terminalOf(key);
    const [word] = line.words;
    if (terminal === undefined || word === undefined) return; // `released` has it
    const shown = await screen.read(terminal.id);
    const seen = `${shown.x} ${shown.y}\n${shown.lines.join('\n')}`;
    const isMoving = line.seen !== '' && seen !== line.seen;
    line.quiet = seen === line.seen ? line.quiet + 1 : 0;
    line.seen = seen;
    if (line.quiet + 1 >= quietLooks) {
      if (listens(shown)) await type(terminal, word, line);
    } else if (word.interrupts === 1 && isMoving && !line.isInterrupted && !isHalfTyped(shown)) {
      line.isInterrupted = true;
      await screen.press(terminal.id, 'Escape');
    }
  }

  async function type({ id }: Terminal, word: TerminalWord, line: Line): Promise<void> {
    await store.mark(word.id, true);
    await screen.paste(id, visible(word.text));
    await sleep(beforeEnterMs);
    await screen.press(id, 'Enter');
    await store.remove(word.id);
    Object.assign(line, { seen: '', quiet: 0, isInterrupted: false });
    log.info({ terminal: id, by: word.said_by }, 'words were typed into a terminal');
    done(word);
  }

  /** After a kill between the two it is not known whether they were typed: what the terminal shows says it. */
  async function wasTyped(word: TerminalWord): Promise<boolean> {
    const terminal = terminalOf(word.conversation_key);
    if (word.is_begun === 0 || terminal === undefined) return false;
    const past = await screen.past(terminal.id).catch(() => '');
    return bare(past).includes(bare(visible(word.text)).slice(0, 60));
  }

  async function giveBack(key: string): Promise<void> {
    const words = lines.get(key)?.words ?? [];
    lines.delete(key);
    for (const word of words) {
      typed.get(word.id)?.();
      await store.remove(word.id);
      const { text, said_by: by } = word;
      sayOverChannel({ conversation_key: key, text, ...(by !== null && { by }) }).catch((error: unknown) =>
        log.error({ err: error, conversation_key: key }, 'what a terminal did not take could not be said over the channel'),
      );
    }
  }

  return {
    async say({ conversation_key, text, by, interrupt = false }) {
      if (terminalOf(conversation_key) === undefined) return null;
      if ((lines.get(conversation_key)?.words.length ?? 0) >= maxWaiting)
        throw queueFull(`${maxWaiting} messages wait for this terminal already. Look at it: its program takes none.`);
      const id = ids.next('word');
      const word = { id, conversation_key, text, said_by: by ?? null, interrupts: interrupt ? 1 : 0, is_begun: 0 };
      await store.add(word, clock.now());
      const isTyped = Promise.withResolvers<boolean>();
      typed.set(id, () => isTyped.resolve(true));
      add(word);
      const giveUp = clock.after(answerMs, () => isTyped.resolve(false));
      const delivered = await isTyped.promise;
      giveUp();
      typed.delete(id);
      const deliverErr = delivered
        ? null
        : 'the terminal is at work, or somebody types there: it is typed as soon as it waits for a message';
      return { ok: true, reply: '', delivered, deliverErr, route: null, outcome: 'silent', turn_id: id };
    },
    async resume() {
      for (const word of await store.all()) {
        if (await wasTyped(word)) await store.remove(word.id);
        else add({ ...word, is_begun: 0 });
      }
      for (const key of lines.keys()) if (terminalOf(key) === undefined) await giveBack(key);
    },
    released: (key) =>
      void giveBack(key).catch((error: unknown) =>
        log.error({ err: error }, 'what a terminal did not take could not be given back'),
      ),
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}

/** Somebody may be in the middle of a message: the cursor stands behind words. Nothing is pressed there. */
const isHalfTyped = ({ lines, x, y }: Screen): boolean => /^[\s│|]*[❯›>]\s\S/u.test(bareLine(lines[y] ?? '').slice(0, x));
// eslint-disable-next-line no-control-regex
const bareLine = (line: string): string => line.replaceAll(/\u001b\[[\d;]*m/g, '');
const bare = (text: string): string => text.replaceAll(/\s/g, '');

/** Line breaks and tabs stay; whatever else would be a key is left out. */
const visible = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u2028\u2029]/gu, '');
