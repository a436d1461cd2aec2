import { constants, createReadStream } from 'node:fs';
import { appendFile, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import { checkKey, createEntries, parseChange, toText, type Change, type Entries } from './entries.ts';
import type { ConnectorState, StateValue } from './state.ts';

/** A file is rewritten when it is this much longer than its content. */
const slack = { factor: 3, chars: 256 * 1024 };
const usualKeep = 1000;
/** Writes are synchronous (`O_SYNC`), because a confined process has no fsync. */
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_SYNC;
const appendSynced = 'as';
const pieceChars = 1024 * 1024;
/** Length of the longest possible change: the whole state, with every character escaped. */
const maxLine = 80 * 1024 * 1024;
const lineEnd = 10;

/** Deleted and replaced values, which may be a person's words, stay in the file for at most this long, ms. */
const keptMs = 60 * 60_000;

/**
 * The file as it was read. `mustRewrite`: it ends with an incomplete line, so nothing may be appended. `mayHoldMore`: it may hold more than
 * the entries.
 */
type Opened = { entries: Entries; chars: number; mustRewrite: boolean; mayHoldMore: boolean };
/** One call: its read access, or its change. */
type Step = { run: (entries: Entries) => unknown; change: Change | null; done: PromiseWithResolvers<unknown> };

/**
 * State in one file of the instance's folder, read when it is first used. Each change is one line, and is on disk before its promise
 * resolves; changes made at the same time share one write. A line that a kill has cut off is ignored, so acknowledged changes are always
 * there, and others are there completely or not at all.
 */
export function createFileState(
  file: string,
  log: StartContext['log'],
  clock: Pick<Clock, 'after'> = systemClock,
): ConnectorState {
  let opened: Promise<Opened> | null = null;
  let waiting: Step[] = [];
  let isRunning = false;
  let cancelTidy: (() => void) | null = null;
  let isTidyDue = false;

  const tidyLater = () => {
    cancelTidy ??= clock.after(keptMs, () => {
      cancelTidy = null;
      isTidyDue = true;
      if (!isRunning) void runAll();
    });
  };
  const tidy = async (): Promise<void> => {
    isTidyDue = false;
    try {
      const state = await (opened ??= readState(file, log));
      if (state.mayHoldMore) await rewrite(file, state);
    } catch (error) {
      log('error', 'deleted state of this connector is still in its file', { error: errorText(error) });
      tidyLater();
    }
  };

  const ask = <T>(run: (entries: Entries) => T, change: Change | null = null): Promise<T> => {
    const done = Promise.withResolvers<unknown>();
    waiting.push({ run, change, done });
    if (!isRunning) void runAll();
    return done.promise as Promise<T>; // the value that `run` returns resolves `done`
  };

  async function runAll(): Promise<void> {
    isRunning = true;
    await Promise.resolve(); // so that all calls of one tick share one write
    while (waiting.length > 0 || isTidyDue) {
      if (isTidyDue) await tidy();
      const steps = waiting;
      waiting = [];
      try {
        const state = await (opened ??= readState(file, log));
        const answers = await runSteps(file, state, steps);
        if (state.mayHoldMore) tidyLater();
        for (const answer of answers) answer();
      } catch (error) {
        opened = null; // the memory may differ from the file now, so the file is read again
        for (const { done } of steps) done.reject(toFault(file, error));
      }
    }
    isRunning = false;
  }

  const make = (change: Change): Promise<void> =>
    ask((entries) => {
      entries.checkRoom(change);
      entries.apply(change);
    }, change);

  const state: ConnectorState = {
    get: <T extends StateValue>(key: string) =>
      ask((entries) => {
        const text = entries.get(key);
        return text === undefined ? undefined : (JSON.parse(text) as T);
      }),
    set: (key, value) => state.change({ [key]: value }),
    delete: (key) => state.change({ [key]: undefined }),
    async change(changes) {
      const set: Record<string, string | null> = Object.create(null) as Record<string, string | null>;
      for (const [key, value] of Object.entries(changes)) set[checkKey(key)] = value === undefined ? null : toText(key, value);
      await make({ set });
    },
    list: (prefix) =>
      ask((entries) => {
        const keys = [...entries.keys()].filter((key) => key.startsWith(prefix)).toSorted();
        return keys.map((key) => ({ key, value: JSON.parse(entries.get(key) ?? 'null') as StateValue }));
      }),
    async append(key, item, keep = usualKeep) {
      await make({ append: checkKey(key), item: toText(key, item), keep });
    },
  };
  return state;
}

/**
 * Runs the steps. Returns the functions that resolve them, once all their changes are on disk. @throws when they could not be written: then
 * none is made
 */
async function runSteps(file: string, state: Opened, steps: Step[]): Promise<(() => void)[]> {
  const answers: (() => void)[] = [];
  const lines: string[] = [];
  for (const { run, change, done } of steps) {
    try {
      const value = run(state.entries);
      if (change !== null) lines.push(`${JSON.stringify(change)}\n`);
      answers.push(() => done.resolve(value));
    } catch (error) {
      answers.push(() => done.reject(error));
    }
  }
  if (lines.length > 0) await write(file, state, lines.join(''));
  return answers;
}

async function write(file: string, state: Opened, text: string): Promise<void> {
  state.chars += text.length;
  if (!state.mustRewrite && state.chars < slack.chars + slack.factor * state.entries.size()) {
    state.mayHoldMore = true;
    await appendFile(file, text, { flag: appendSynced, mode: 0o600 });
    return;
  }
  await rewrite(file, state);
}

/** Writes only the present entries. */
async function rewrite(file: string, state: Opened): Promise<void> {
  const { entries } = state;
  let chars = 0;
  const count = (piece: string) => (chars += piece.length);
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  await writeFile(draft, piecesOf(entries, count), { flag: newFile, mode: 0o600 });
  await rename(draft, file);
  state.chars = chars;
  state.mustRewrite = false;
  state.mayHoldMore = false;
}

/** The entries as lines, a few at a time: a copy of everything would be half of a small process's memory. */
function* piecesOf(entries: Entries, onPiece: (piece: string) => void): Generator<string> {
  let piece = '';
  const take = () => {
    const taken = piece;
    piece = '';
    onPiece(taken);
    return taken;
  };
  for (const key of entries.keys()) {
    piece += `${JSON.stringify({ set: { [key]: entries.get(key) } })}\n`;
    if (piece.length >= pieceChars) yield take();
  }
  yield take();
}

/** Reads in pieces, because the file may be several times as long as its content. */
async function readState(file: string, log: StartContext['log']): Promise<Opened> {
  const entries = createEntries();
  let [chars, unreadable, last] = [0, 0, lineEnd];
  const takeLine = (line: string) => {
    chars += line.length + 1;
    const change = parseChange(line);
    if (change === null) unreadable++;
    else entries.apply(change);
  };
  const lines = createLineSplitter(maxLine, takeLine, () => unreadable++);
  for await (const chunk of piecesIn(file)) {
    lines.push(chunk);
    last = chunk.at(-1) ?? last;
  }
  if (unreadable > 0) await keepDamaged(file, unreadable, log);
  return { entries, chars, mustRewrite: last !== lineEnd || unreadable > 0, mayHoldMore: chars > 0 };
}

/** Yields nothing when the file is missing. */
async function* piecesIn(file: string): AsyncGenerator<Buffer> {
  try {
    // The cast: without an encoding, a stream yields buffers.
    yield* createReadStream(file, { highWaterMark: pieceChars }) as AsyncIterable<Buffer>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** An unreadable line within the file was not caused by a kill. The rest is used, and the damaged file is kept. */
async function keepDamaged(file: string, unreadable: number, log: StartContext['log']): Promise<void> {
  const copy = `${file}.damaged`;
  await copyFile(file, copy);
  log('error', "a part of this connector's saved state could not be read and was skipped", { lines: unreadable, copy });
}

const toFault = (file: string, error: unknown): unknown =>
  error instanceof ServiceError
    ? error
    : new ServiceError(
        'insufficient_storage',
        `The saved state of this connector could not be read or written (${file}): ${errorText(error)}`,
        {
          cause: error,
        },
      );
