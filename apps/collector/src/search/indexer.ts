import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { keepFact } from '../fact/facts.ts';
import type { SearchThread } from './search-thread.ts';

/** Keeps the search index up to date, without delaying the storing of events. */
export type Indexer = {
  stored(count: number): void;
  /** Updates the index now, without waiting for a quiet time, because a search found it incomplete. */
  catchUp(): void;
  /** One line for /health; null without a fault. */
  fault(): string | null;
  close(): void;
};

type Deps = {
  db: Pick<Database, 'get' | 'run'>;
  thread: Pick<SearchThread, 'ask'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Whether there is an index. One that was deleted, for example by a restore, is rebuilt from all events. */
  hasIndex: boolean;
};

const batchEvents = 2000;
/** A search adds a few missing events itself, so the thread is not started for them. More wait for a quiet time, up to a limit. */
const worthIt = 1000;
const tooMany = 100_000;
const quietMs = 5000;
const retryMs = 60_000;

/** Without an index `indexed_seq` does not count: it is a part of the database of the events, and is restored with it. */
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
      fault = `The search index cannot be updated: ${errorText(error)}`;
      log.warn({ err: errorText(error) }, 'the search index could not be updated');
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
  // One timer for many commits: if it fires too early, it is set again.
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
  void takeUp().catch((error: unknown) => log.warn({ err: errorText(error) }, 'the state of the search index could not be read'));
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
