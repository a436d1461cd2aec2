import { setImmediate as nextTick } from 'node:timers/promises';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { StartContext } from '../connector.ts';
import { pause } from '../retry.ts';
import type { ConnectorState } from '../state/state.ts';
import { pauseMs } from './passing-faults.ts';
import { tooSlow } from './too-slow.ts';

/** What names an update's place: an offset, a sequence number, a time with an id. */
export type Cursor = string | number;

export type FollowOptions<Update> = {
  /**
   * Asks the platform for what came after an update, in its order, and lets it wait up to `waitMs` when there is nothing. `after`: the last one
   * that is safe, which passes all up to it; null when nothing is known. What was given and is not passed may come again, and need not.
   */
  poll(after: Cursor | null, waitMs: number, signal: AbortSignal): Promise<readonly Update[]>;
  cursorOf(update: Update): Cursor;
  /** `take` of an ingress. */
  take(update: Update): Promise<void>;
  /** Ends it. */
  signal: AbortSignal;
  log: StartContext['log'];
  /** `caughtUp` of an ingress: called after each poll with its start. */
  caughtUp?(asOf: number): void;
  /** Why there are no updates at the moment; null when there are again. */
  onProblem?(problem: string | null): void;
  /** Where the last update that was passed is kept, for platforms that do not know it themselves. */
  state?: ConnectorState;
  clock?: Clock;
  /** Longest wait of a poll, ms; 25,000 unless given. */
  waitMs?: number;
  /** Pause after a poll that found nothing, ms, for platforms that do not wait; none unless given. */
  everyMs?: number;
};

type Pending = { cursor: Cursor; state: 'open' | 'safe' | 'lost'; done: Promise<void> };

const stateKey = 'feed/cursor';
/** So long after its own bound a poll is given up. */
const patienceMs = 15_000;
/**
 * Pauses between polls while updates are open, ms: one may wait for what comes with the next poll, such as a part of an album, so polls may not
 * wait for it.
 */
const lookAgain = { firstMs: 250, maxMs: 2000 };
/** A platform that gives nothing and does not wait is not asked more often than this. */
const shortestEmptyMs = 1000;

/**
 * Follows the updates of a platform that is polled, until `signal` aborts. An update is passed when it and all before it are safe; polls go on
 * meanwhile. Faults are logged, and tried again ever more slowly. Never rejects.
 */
export async function followUpdates<Update>(options: FollowOptions<Update>): Promise<void> {
  const {
    poll,
    cursorOf,
    take,
    caughtUp,
    signal,
    log,
    onProblem,
    state,
    clock = systemClock,
    waitMs = 25_000,
    everyMs,
  } = options;
  const stopped = whenAborted(signal);
  let pending: Pending[] = [];
  let passed: Cursor | null = null;
  let saved: Cursor | null = null;
  let faults = 0;
  let looks = 0;

  const begin = (update: Update): Pending => {
    const entry: Pending = { cursor: cursorOf(update), state: 'open', done: Promise.resolve() };
    entry.done = take(update).then(
      () => void (entry.state = 'safe'),
      () => void (entry.state = 'lost'),
    );
    return entry;
  };

  /** Moves over what is safe. False when something is to be given again, with all that came after it. */
  function advance(): boolean {
    const open = pending.findIndex((entry) => entry.state !== 'safe');
    const safe = open === -1 ? pending : pending.slice(0, open);
    passed = safe.at(-1)?.cursor ?? passed;
    pending = pending.slice(safe.length);
    const lost = pending.findIndex((entry) => entry.state === 'lost');
    if (lost !== -1) pending = pending.slice(0, lost);
    return lost === -1;
  }

  async function round(): Promise<void> {
    // After a fault without a wait, so that it is known soon that the platform is there again.
    const wait = pending.length === 0 && faults === 0 ? waitMs : 0;
    const since = clock.elapsed();
    const given = await inTime(
      Promise.race([poll(passed, wait, signal), stopped]),
      wait + patienceMs,
      tooSlow(wait + patienceMs),
      clock,
    );
    await nextTick(); // all that was decided meanwhile is known
    if (pending.some((entry) => entry.state === 'lost')) return giveBack();
    const known = new Set(pending.map(({ cursor }) => cursor));
    const fresh = given.filter((update) => !known.has(cursorOf(update)));
    pending.push(...fresh.map(begin));
    looks = fresh.length > 0 ? 1 : looks + 1;
    await nextTick(); // what was taken stands in its line
    caughtUp?.(since);
    await settledSoon();
    if (!advance()) return giveBack();
    await keep();
    const isTooFast = clock.elapsed() - since < shortestEmptyMs;
    if (given.length === 0 && pending.length === 0) await pause(clock, everyMs ?? (isTooFast ? shortestEmptyMs : 0), signal);
  }

  /** What came after a lost update would overtake it, so it is not taken either. */
  async function giveBack(): Promise<never> {
    advance();
    await keep();
    throw new Error('An update could not be processed yet. Send it again.');
  }

  async function settledSoon(): Promise<void> {
    if (pending.length === 0) return;
    const all = Promise.all(pending.map(({ done }) => done));
    await Promise.race([all, pause(clock, backOffMs(lookAgain, looks), signal)]);
  }

  async function keep(): Promise<void> {
    if (state === undefined || passed === saved || passed === null) return;
    await state.set(stateKey, passed);
    saved = passed;
  }

  async function load(): Promise<void> {
    const found = await state?.get<Cursor>(stateKey);
    saved = passed = found ?? null;
  }

  let isLoaded = state === undefined;
  while (!signal.aborted) {
    try {
      if (!isLoaded) await load();
      isLoaded = true;
      await round();
      if (faults > 0) onProblem?.(null);
      faults = 0;
    } catch (error) {
      if (signal.aborted) return;
      const text = errorText(error);
      log(faults === 0 ? 'warn' : 'debug', 'updates of the platform cannot be processed at the moment', { error: text });
      onProblem?.(text);
      await pause(clock, pauseMs(error, ++faults), signal);
    }
  }
}

/** Rejects when it stops, so that a poll that does not look at the signal holds up nothing. */
function whenAborted(signal: AbortSignal): Promise<never> {
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined); // it may come between two polls
  signal.addEventListener('abort', () => stopped.reject(signal.reason), { once: true });
  return stopped.promise;
}
