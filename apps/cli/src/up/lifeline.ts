import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import { takeEnv } from '@svc/service-kit/config/env-file.ts';
import { within } from '@svc/service-kit/within.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

/** Set for a supervisor that stops when its end of a pipe is closed, which happens when its parent process ends for any reason. */
export const lifelineVariable = 'GATEWAY_LIFELINE';
const lifelineFd = 3;

/** The value. `talks`: both ends exchange messages. `waits`: the same, and the supervisor stands by until it receives `go`. */
export type LifelineKind = 'ends' | 'talks' | 'waits';

/** The supervisor requests the preparation of its successor, or reports that it stands by; the parent answers. */
const words = { prepare: 'prepare', ready: 'ready', go: 'go' } as const;
const longestWord = 64;

/** How long the next version may load its code while the previous one keeps running. */
export const prepareMs = 30_000;
/** The other end enforces `prepareMs` itself. */
const answerMs = prepareMs + 5000;

/** The supervisor's end. */
export type Lifeline = {
  kind: LifelineKind;
  /** Resolves when the process that holds the other end is gone. */
  ended: Promise<void>;
  /** Asks for the next version to be prepared; resolves when it is ready, or after a timeout. */
  prepareNext(): Promise<void>;
  /** Reports that everything is loaded. Resolves with true when it is to start, with false when it is not needed. */
  standBy(): Promise<boolean>;
};

/** Null in a process that was started without one. */
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
  /** Called when the supervisor requests the preparation of its successor. */
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

/** Returns a function that waits for a message. */
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
