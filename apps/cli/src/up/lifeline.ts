import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import { takeEnv } from '@svc/service-kit/config/env-file.ts';
import { within } from '@svc/service-kit/within.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

/** Set for a supervisor that ends when its end of a pipe is closed: with the process that started it, however that ends. */
export const lifelineVariable = 'GATEWAY_LIFELINE';
const lifelineFd = 3;

/** Its value. `talks`: words are understood at the other end, too. `waits`: the same, and the supervisor stands by until it is told to go. */
export type LifelineKind = 'ends' | 'talks' | 'waits';

/** From the supervisor: that it should be prepared what comes after it; that it stands by. And the answers. */
const words = { prepare: 'prepare', ready: 'ready', go: 'go' } as const;
const longestWord = 64;

/** For so long the version that comes next may load its code while the one before runs on. */
export const prepareMs = 30_000;
/** The other end keeps to `prepareMs` by itself. */
const answerMs = prepareMs + 5000;

/** The supervisor's end. */
export type Lifeline = {
  kind: LifelineKind;
  /** Resolves when the process that holds the other end is gone. */
  ended: Promise<void>;
  /** Has the next version prepared; resolves when it is, or when that takes too long. */
  prepareNext(): Promise<void>;
  /** Says that all is loaded. Resolves with true when it is to begin, with false when it is not needed. */
  standBy(): Promise<boolean>;
};

/** Null in a process that was started without. */
export function takeLifeline(): Lifeline | null {
  const value = takeEnv(lifelineVariable);
  if (value === undefined) return null;
  const kind = value === 'talks' || value === 'waits' ? value : 'ends';
  const pipe = new Socket({ fd: lifelineFd, readable: true, writable: kind !== 'ends' });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  pipe.once('error', () => end());
  pipe.once('close', () => end());
  const heard = hear(pipe);
  pipe.resume();
  // It must not keep a process that has nothing else to do.
  pipe.unref();
  const ask = (word: string, answer: string): Promise<boolean> => {
    const answered = heard(answer).then(() => true);
    pipe.write(`${word}\n`);
    return Promise.race([answered, ended.then(() => false)]);
  };
  return {
    kind,
    ended,
    prepareNext: async () => void (await within(ask(words.prepare, words.ready), answerMs)),
    standBy: () => ask(words.ready, words.go),
  };
}

/** The other end, of a supervisor that was started with one. */
export type HeldLifeline = {
  /** Called when the supervisor wants what comes next to be prepared. */
  onPrepare(listener: () => void): void;
  sayReady(): void;
  /** Resolves when the supervisor stands by. */
  stoodBy: Promise<void>;
  sayGo(): void;
};

export function holdLifeline(child: ChildProcess): HeldLifeline | null {
  const pipe = (child.stdio as ChildProcess['stdio'] | undefined)?.[lifelineFd];
  if (!(pipe instanceof Duplex)) return null; // it could not be started
  pipe.on('error', () => undefined); // it has ended, which is seen elsewhere
  const heard = hear(pipe);
  const say = (word: string) => void (pipe.writable && pipe.write(`${word}\n`));
  return {
    onPrepare: (listener) => void heard(words.prepare).then(listener),
    sayReady: () => say(words.ready),
    stoodBy: heard(words.ready),
    sayGo: () => say(words.go),
  };
}

/** Gives a promise of a word. */
function hear(pipe: Duplex): (word: string) => Promise<void> {
  const waiting = new Map<string, () => void>();
  const splitter = createLineSplitter(
    longestWord,
    (line) => waiting.get(line)?.(),
    () => undefined,
  );
  pipe.on('data', (chunk: Buffer) => splitter.push(chunk));
  return (word) => new Promise((resolve) => waiting.set(word, resolve));
}
