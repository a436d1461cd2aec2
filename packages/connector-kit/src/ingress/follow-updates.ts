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

/** Identifies an update's position: an offset, a sequence number, or a time with an id. */
export type Cursor = string | number;

export type FollowOptions<Update> = {
  /**
   * Asks the platform for the updates after `after`, in order; the platform may wait up to `waitMs` when there are none. `after`: the last
   * safe update, which acknowledges all up to it; null when none is known. Updates that were returned but not yet acknowledged may be
   * returned again.
   */
  poll(after: Cursor | null, waitMs: number, signal: AbortSignal): Promise<readonly Update[]>;
  cursorOf(update: Update): Cursor;
  /** The `take` of an ingress. */
  take(update: Update): Promise<void>;
  /** Ends the polling. */
  signal: AbortSignal;
  log: StartContext['log'];
  /** The `caughtUp` of an ingress: called after each poll with the time at which it began. */
  caughtUp?(asOf: number): void;
  /** Why updates cannot be received at the moment; null when they can again. */
  onProblem?(problem: string | null): void;
  /** Stores the position of the last acknowledged update, for platforms that do not keep it themselves. */
  state?: ConnectorState;
  clock?: Clock;
  /** Longest wait of a poll, ms. Default: 25,000. */
  waitMs?: number;
  /** Pause after a poll without updates, ms, for platforms that do not wait. Default: none. */
  everyMs?: number;
};

type Pending = { cursor: Cursor; state: 'open' | 'safe' | 'lost'; done: Promise<void> };

const stateKey = 'feed/cursor';
/** A poll is aborted this long after its own timeout, ms. */
const patienceMs = 15_000;
/**
 * Pauses between polls while updates are open, ms. An open update may need what the next poll returns, such as a part of an album, so
 * polling must go on.
 */
const lookAgain = { firstMs: 250, maxMs: 2000 };
/** Least interval of polls to a platform that returns nothing without waiting, ms. */
const shortestEmptyMs = 1000;

/**
 * Polls a platform for updates until `signal` aborts. An update is acknowledged when it and all before it are safe; polling continues
 * meanwhile. Errors are logged and retried with back-off. Never rejects.
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

  /** Moves the position past all safe updates. False when an update, and all after it, must be delivered again. */
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
    // No wait after an error, to learn quickly that the platform is back.
    const wait = pending.length === 0 && faults === 0 ? waitMs : 0;
    const since = clock.elapsed();
    const given = await inTime(
      Promise.race([poll(passed, wait, signal), stopped]),
      wait + patienceMs,
      tooSlow(wait + patienceMs),
      clock,
    );
    await nextTick(); // lets pending promise callbacks run, so that all known outcomes are seen
    if (pending.some((entry) => entry.state === 'lost')) return giveBack();
    const known = new Set(pending.map(({ cursor }) => cursor));
    const fresh = given.filter((update) => !known.has(cursorOf(update)));
    pending.push(...fresh.map(begin));
    looks = fresh.length > 0 ? 1 : looks + 1;
    await nextTick(); // the updates taken are now in the queues of their chats
    caughtUp?.(since);
    await settledSoon();
    if (!advance()) return giveBack();
    await keep();
    const isTooFast = clock.elapsed() - since < shortestEmptyMs;
    if (given.length === 0 && pending.length === 0) await pause(clock, everyMs ?? (isTooFast ? shortestEmptyMs : 0), signal);
  }

  /** The updates after a lost one would overtake it, so they are given up too. */
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

/** Rejects on abort, so that a poll that ignores the signal blocks nothing. */
function whenAborted(signal: AbortSignal): Promise<never> {
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined); // the abort may come between two polls
  signal.addEventListener('abort', () => stopped.reject(signal.reason), { once: true });
  return stopped.promise;
}
