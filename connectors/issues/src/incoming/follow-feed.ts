import { hash } from 'node:crypto';
import { followUpdates, type ConnectorState, type StartContext } from '@svc/connector-kit';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** An entry of one of GitHub's lists, which are sorted by the time of the last change. */
export type Entry = { id: number | bigint; updated_at: string; body?: string | null };
/** One page of a list; null when it has not changed since this ETag. */
export type Page<T> = { entries: readonly T[]; etag: string | null } | null;

export type FeedOptions<T extends Entry> = {
  /** Lists the entries that changed at `since` or later, in the order of their changes. */
  list(query: { since: string; page: number; etag: string | null }, signal: AbortSignal): Promise<Page<T>>;
  /** Handles an entry. Resolves when the feed may move past it. */
  take(entry: T): Promise<void>;
  /** Changes before this time are ignored. */
  since: string;
  everyMs: number;
  state: ConnectorState;
  log: StartContext['log'];
  signal: AbortSignal;
  onProblem(problem: string | null): void;
  clock?: Clock;
};

/** `look`: polls now instead of at the next interval. */
export type Feed = { look(): void; ended: Promise<void> };

export const pageSize = 100;
/** GitHub's servers may lag behind each other, so changes of this last period are read again, ms. */
const overlapMs = 90_000;
/** Minimum time between polls, however often `look` is called, ms. */
const leastMs = 1000;
/** Maximum number of entries of the overlap that are remembered. */
const mostKnown = 20_000;

type Given<T> = { entry: T; time: string; n: number };
type Tag = { since: string; etag: string; n: number };

/**
 * Follows a list in the order of its changes, across restarts. Each state of each entry is delivered once, and repeated until
 * it is stored. No entry is missed when entries change while the list is read, because reading continues from the time of the
 * last entry, not from a page number.
 */
export function followFeed<T extends Entry>(options: FeedOptions<T>): Feed {
  const { list, state, everyMs, signal, clock = systemClock } = options;
  let counter = 0;
  /** Number of the last delivered entry. The stored position is below it only when a delivery was lost. */
  let given = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let bell = Promise.withResolvers<void>();
  let isBehind = false;
  let tag: Tag | null | undefined;
  /** The delivered entries, by entry and change, with their position. */
  const known = new Map<string, Cursor>();
  let full: { since: string; page: number } | null = null;
  let polls = 0;

  async function poll(after: string | number | null, waitMs: number): Promise<Given<T>[]> {
    const own = ++polls;
    const passed = readCursor(after) ?? { time: options.since, n: 0 };
    counter = Math.max(counter, passed.n);
    if (waitMs > 0 && !isBehind) await due(waitMs);
    if (passed.n < given) goBackTo(passed.n);
    const { since, page } = full ?? { since: overlapOf(passed.time, options.since), page: 1 };
    tag ??= await loadTag();
    const isSame = full === null && tag?.since === since && passed.n >= tag.n;
    const listed = await list({ since, page, etag: isSame && tag !== null ? tag.etag : null }, signal);
    // A poll that took too long was abandoned, so its result goes nowhere: counted as delivered, it would be lost.
    if (own !== polls) throw new Error('A newer poll has replaced this one.');
    nextAt = clock.elapsed() + everyMs;
    isBehind = false;
    if (listed === null) return [];
    const fresh = freshOf(listed.entries, passed);
    given = fresh.at(-1)?.n ?? passed.n;
    await follow(listed, { since, page });
    return fresh;
  }

  /**
   * After a lost delivery, the list is read again from its first page. Entries after position `n` are forgotten, so that they
   * get new numbers behind the new entries of earlier pages; with their old numbers they would be skipped together with those.
   */
  function goBackTo(n: number): void {
    full = null;
    given = n;
    for (const [name, cursor] of known) if (cursor.n > n) known.delete(name);
  }

  function freshOf(entries: readonly T[], passed: Cursor): Given<T>[] {
    let { time } = passed;
    return entries.flatMap((entry) => {
      const name = stateOf(entry);
      if (known.has(name)) return [];
      if (entry.updated_at > time) time = entry.updated_at;
      const cursor = { time, n: ++counter };
      known.set(name, cursor);
      forgetOldest(known, mostKnown);
      return [{ entry, ...cursor }];
    });
  }

  /** Decides where the next poll starts: after a full page, at the time of its last entry. */
  async function follow(
    { entries, etag }: NonNullable<Page<T>>,
    { since, page }: { since: string; page: number },
  ): Promise<void> {
    const last = entries.at(-1);
    if (entries.length >= pageSize && last !== undefined) {
      full = last.updated_at > since ? { since: last.updated_at, page: 1 } : { since, page: page + 1 };
      isBehind = true;
      return;
    }
    const isFirst = full === null;
    full = null;
    if (!isFirst || etag === null) return;
    tag = { since, etag, n: counter };
    await state.set('tag', tag);
  }

  async function loadTag(): Promise<Tag | null> {
    const found = await state.get('tag');
    return isRecord(found) && typeof found['n'] === 'number' ? (found as Tag) : null;
  }

  /** Resolves when the next poll is due or `look` is called. */
  async function due(mostMs: number): Promise<void> {
    const waitMs = Math.min(mostMs, nextAt - clock.elapsed());
    await elapsed(waitMs, bell.promise);
    await elapsed(nextAt - everyMs + Math.min(everyMs, leastMs) - clock.elapsed());
    bell = Promise.withResolvers();
  }

  async function elapsed(ms: number, sooner?: Promise<void>): Promise<void> {
    if (ms <= 0) return;
    const time = Promise.withResolvers<void>();
    const cancel = clock.after(ms, time.resolve);
    await (sooner === undefined ? time.promise : Promise.race([time.promise, sooner]));
    cancel();
  }

  const { log, onProblem } = options;
  const ended = followUpdates<Given<T>>({
    state,
    signal,
    log,
    onProblem,
    clock,
    poll,
    waitMs: everyMs,
    everyMs: 0, // `due` waits
    cursorOf: ({ time, n }) => `${time} ${n}`,
    take: ({ entry }) => options.take(entry),
  });
  return { look: () => bell.resolve(), ended };
}

type Cursor = { time: string; n: number };

/**
 * Identifies one state of an entry. Times have whole seconds, and a text may be edited within the second in which it was read.
 */
const stateOf = ({ id, updated_at, body }: Entry): string => `${id} ${updated_at} ${hash('sha1', body ?? '', 'base64')}`;

function readCursor(cursor: string | number | null): Cursor | null {
  const [, time = '', n = ''] = /^(\S+) (\d+)$/.exec(String(cursor)) ?? [];
  return time === '' ? null : { time, n: Number(n) };
}

/** Never before the feed's start. */
function overlapOf(time: string, first: string): string {
  const at = new Date(Math.max(Date.parse(time) - overlapMs, Date.parse(first))).toISOString();
  return at.replace(/\.\d+Z$/, 'Z');
}
