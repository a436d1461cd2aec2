import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { holds, isHalfTyped, listens } from './listening.ts';
import type { TerminalScreen } from './terminal-screen.ts';
import { asTyped } from './typed-text.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

/**
 * Types words into terminals: each when the program waits for a message and nobody has begun to type one. A word whose typing may have begun already, before
 * a kill or a fault, is typed again only when the transcript does not have it.
 */
export type Typist = {
  add(word: TerminalWord): void;
  /** Takes what waits for a session back. */
  take(conversationKey: string): TerminalWord[];
  waiting(conversationKey: string): readonly TerminalWord[];
  close(): void;
};

type Deps = {
  screen: TerminalScreen;
  store: Pick<WordStore, 'begin' | 'remove'>;
  terminalOf(conversationKey: string): Pick<Terminal, 'id'> | undefined;
  wasSaid(word: TerminalWord): Promise<boolean>;
  onTyped(word: TerminalWord): void;
  clock: Pick<Clock, 'now' | 'after'>;
  log: Pick<Log, 'info' | 'error'>;
};

const lookMs = 400;
/** A program that works shows it by something that moves at least each second. */
const quietLooks = 4;
/** Some programs take an Enter that follows at once for a part of what was pasted. */
const beforeEnterMs = 200;

/** A terminal with words that wait for it. */
type Line = { words: TerminalWord[]; seen: string; quiet: number; isInterrupted: boolean };

export function createTypist({ screen, store, terminalOf, wasSaid, onTyped, clock, log }: Deps): Typist {
  const lines = new Map<string, Line>();
  let cancel: (() => void) | null = null;
  let isClosed = false;

  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

  function lookSoon(): void {
    if (isClosed || cancel !== null || lines.size === 0) return;
    cancel = clock.after(lookMs, () => void lookAtAll());
  }
  async function lookAtAll(): Promise<void> {
    await Promise.all([...lines].map(([key, line]) => look(key, line).catch((error: unknown) => failed(key, line, error))));
    cancel = null;
    lookSoon();
  }
  const failed = (key: string, line: Line, error: unknown): void => {
    line.quiet = 0;
    log.error({ err: error, conversation_key: key }, 'a message could not be typed into its terminal yet');
  };

  async function look(key: string, line: Line): Promise<void> {
    const terminal = terminalOf(key);
    const [word] = line.words;
    if (terminal === undefined || word === undefined) return; // it is being given back
    const shown = await screen.read(terminal.id);
    const seen = `${shown.x} ${shown.y}\n${shown.lines.join('\n')}`;
    const isMoving = line.seen !== '' && seen !== line.seen;
    line.quiet = seen === line.seen ? line.quiet + 1 : 0;
    line.seen = seen;
    if (line.quiet + 1 >= quietLooks) {
      if (word.begun_at !== null && (await wasSaid(word))) await finish(line, word);
      else if (word.begun_at !== null && holds(shown, asTyped(word.text))) await enter(terminal.id, line, word);
      else if (listens(shown)) await type(terminal.id, line, word);
    } else if (word.interrupts === 1 && isMoving && !line.isInterrupted && !isHalfTyped(shown)) {
      line.isInterrupted = true;
      await screen.press(terminal.id, 'Escape');
    }
  }

  async function type(id: string, line: Line, word: TerminalWord): Promise<void> {
    word.begun_at = clock.now();
    await store.begin(word.id, word.begun_at);
    // Writing that down took a moment, in which a person may have begun to type.
    if (!listens(await screen.read(id))) return;
    await screen.paste(id, asTyped(word.text));
    await sleep(beforeEnterMs);
    await enter(id, line, word);
  }

  /** What is still in the line afterwards was not taken, and gets another Enter at the next look. */
  async function enter(id: string, line: Line, word: TerminalWord): Promise<void> {
    await screen.press(id, 'Enter');
    await sleep(beforeEnterMs);
    if (!holds(await screen.read(id), asTyped(word.text))) await finish(line, word);
  }

  async function finish(line: Line, word: TerminalWord): Promise<void> {
    // The terminal has ended meanwhile: whether its program took the words is for the caller that puts them back.
    if (lines.get(word.conversation_key) !== line) return;
    await store.remove(word.id, clock.now());
    Object.assign(line, { seen: '', quiet: 0, isInterrupted: false });
    line.words = line.words.filter((one) => one !== word);
    if (line.words.length === 0) lines.delete(word.conversation_key);
    log.info({ conversation_key: word.conversation_key, by: word.said_by }, 'a message was typed into a terminal');
    onTyped(word);
  }

  return {
    add(word) {
      const line = lines.get(word.conversation_key) ?? { words: [], seen: '', quiet: 0, isInterrupted: false };
      line.words.push(word);
      lines.set(word.conversation_key, line);
      lookSoon();
    },
    take(key) {
      const words = lines.get(key)?.words ?? [];
      lines.delete(key);
      return words;
    },
    waiting: (key) => lines.get(key)?.words ?? [],
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
