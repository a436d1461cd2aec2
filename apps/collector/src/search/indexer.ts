import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { keepFact } from '../fact/facts.ts';
import type { SearchThread } from './search-thread.ts';

/** Keeps the search index up with what is stored, beside the storing. */
export type Indexer = {
  stored(count: number): void;
  /** A search found the index incomplete: it is brought up to date now, without waiting for a quiet time. */
  catchUp(): void;
  /** One line for /health; null when all is well. */
  fault(): string | null;
  close(): void;
};

type Deps = {
  db: Pick<Database, 'get' | 'run'>;
  thread: Pick<SearchThread, 'ask'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Whether there is an index. One that was thrown away, as with a restore, is made again from all events. */
  hasIndex: boolean;
};

const batchEvents = 2000;
/** A search takes in some by itself, so the thread is not woken for a few. Many wait for a quiet time, but not for ever. */
const worthIt = 1000;
const tooMany = 100_000;
const quietMs = 5000;
const retryMs = 60_000;

/** `indexed_seq` comes with a copy of the events, and says nothing of an index that is not there. */
const selectBehind = `SELECT coalesce(max(seq), 0) - ? * coalesce((SELECT value FROM fact WHERE name = 'indexed_seq'), 0) AS behind FROM event`;

export function createIndexer({ db, thread, clock, log, hasIndex }: Deps): Indexer {
  let waiting = 0;
  let lastAt = clock.elapsed();
  let runs = false;
  let fault: string | null = null;
  let isClosed = false;
  let cancelTimer: (() => void) | null = null;

  const run = async () => {
    if (runs || isClosed) return;
    runs = true;
    waiting = 0;
    try {
      for (let behind = true; behind && !isClosed;) {
        const answer = await thread.ask({ type: 'index', limit: batchEvents });
        ({ behind } = answer);
        if (!behind) await keepFact(db, 'indexed_seq', answer.seq);
      }
      fault = null;
    } catch (error) {
      if (isClosed) return;
      fault = `The search index does not keep up: ${errorText(error)}`;
      log.warn({ err: errorText(error) }, 'the search index does not keep up');
      lookIn(retryMs, () => void run());
    } finally {
      runs = false;
    }
    if (waiting >= worthIt) lookWhenQuiet();
  };
  const lookIn = (ms: number, then: () => void) => {
    cancelTimer?.();
    cancelTimer = clock.after(ms, () => {
      cancelTimer = null;
      then();
    });
  };
  // One timer for many commits: it looks again when it is due too early.
  const lookWhenQuiet = () => {
    if (cancelTimer !== null || isClosed) return;
    const quietFor = clock.elapsed() - lastAt;
    if (quietFor >= quietMs) void run();
    else lookIn(quietMs - quietFor, lookWhenQuiet);
  };
  const takeUp = async () => {
    waiting += (await db.get<{ behind: number }>(selectBehind, hasIndex ? 1 : 0))?.behind ?? 0;
    if (waiting >= worthIt) lookWhenQuiet();
  };
  void takeUp().catch((error: unknown) => log.warn({ err: errorText(error) }, 'the state of the search index is not known'));
  return {
    stored(count) {
      waiting += count;
      lastAt = clock.elapsed();
      if (waiting >= tooMany) void run();
      else if (waiting >= worthIt) lookWhenQuiet();
    },
    catchUp: () => void run(),
    fault: () => fault,
    close() {
      isClosed = true;
      cancelTimer?.();
    },
  };
}
