import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { holds, isHalfTyped, listens } from './listening.ts';
import type { TerminalScreen } from './terminal-screen.ts';
import { asTyped } from './typed-text.ts';
import type { TerminalWord, WordStore } from './word-store.ts';

/**
 * Types messages into terminals, each when the program waits for input and nobody has begun to type. A message whose typing may have begun
 * before a kill or a fault is typed again only when the transcript does not contain it.
 */
export type Typist = {
  add(word: TerminalWord): void;
  /** Removes and returns the messages that wait for a session. */
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
/** A program at work shows it by something that moves at least every second. */
const quietLooks = 4;
/** Some programs treat an immediate Enter as part of the paste. */
const beforeEnterMs = 200;

/** A terminal and the messages that wait for it. */
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
    if (terminal === undefined || word === undefined) return; // the terminal is being released
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
    // A person may have begun to type while that was stored.
    if (!listens(await screen.read(id))) return;
    await screen.paste(id, asTyped(word.text));
    await sleep(beforeEnterMs);
    await enter(id, line, word);
  }

  /** Text that is still in the input afterwards was not taken, and gets another Enter at the next look. */
  async function enter(id: string, line: Line, word: TerminalWord): Promise<void> {
    await screen.press(id, 'Enter');
    await sleep(beforeEnterMs);
    if (!holds(await screen.read(id), asTyped(word.text))) await finish(line, word);
  }

  async function finish(line: Line, word: TerminalWord): Promise<void> {
    // The terminal has ended meanwhile: the caller that takes its messages back decides whether the program took this one.
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
