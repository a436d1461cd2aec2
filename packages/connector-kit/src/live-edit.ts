import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { retryWithin, toAttempt, type Attempt } from './retry.ts';

export type LiveEditOptions = {
  clock: Clock;
  /** Puts a text in the place of the one shown. Rejected as `Outbound.send` is. */
  edit(text: string): Promise<void>;
  /** Shortest time between the end of an edit and the next one, ms. */
  everyMs: number;
  /** How long an edit under way is waited for at the end, and then the last text is tried, ms. */
  finishWithinMs?: number;
};

/** A message that is rewritten while its reply grows. */
export type LiveEdit = {
  /** Shows this text as soon as the platform's limits allow; only the newest one waits. Never throws. */
  show(text: string): void;
  /** Shows the last text, tried again within bounds. Rejects when it could not be shown. Nothing is shown after it. */
  finish(text: string): Promise<void>;
};

/** One edit at a time, spaced, the newest text only; a pause that the platform asks for is kept. */
export function createLiveEdit({ clock, edit, everyMs, finishWithinMs = 60_000 }: LiveEditOptions): LiveEdit {
  let wanted: string | null = null;
  let shown: string | null = null;
  let running: Promise<void> | null = null;
  let notBefore = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | null = null;
  let isFinished = false;

  function schedule(): void {
    if (isFinished || wanted === null || running !== null || cancelTimer !== null) return;
    const waitMs = notBefore - clock.elapsed();
    if (waitMs <= 0) return run();
    cancelTimer = clock.after(waitMs, () => {
      cancelTimer = null;
      schedule();
    });
  }

  function run(): void {
    const text = wanted;
    wanted = null;
    if (text === null || text === shown) return;
    running = attempt(text).finally(() => {
      running = null;
      schedule();
    });
  }

  /** An edit in between may fail: the next one has its text too. */
  async function attempt(text: string): Promise<void> {
    const tried = await tryEdit(text);
    if (tried.ok) shown = text;
    const pauseMs = !tried.ok && tried.again ? (tried.retryAfterMs ?? 0) : 0;
    notBefore = clock.elapsed() + Math.max(everyMs, pauseMs);
  }

  const tryEdit = async (text: string) => toAttempt(await settled(() => edit(text)));

  return {
    show(text) {
      wanted = text;
      schedule();
    },
    async finish(text) {
      isFinished = true;
      wanted = null;
      cancelTimer?.();
      await within(clock, finishWithinMs, Promise.resolve(running));
      if (text === shown) return;
      await rest(clock, notBefore - clock.elapsed());
      const tried = await retryWithin(
        { clock, limitMs: finishWithinMs },
        async (leftMs) => (await within(clock, leftMs, tryEdit(text))) ?? tooSlow,
      );
      if (!tried.ok) throw tried.error;
    },
  };
}

const tooSlow: Attempt<void> = {
  ok: false,
  again: false,
  error: new ServiceError('upstream', 'The channel did not take the last text of a message in time.', { status: 504 }),
};

/** Also of work that throws at once. */
const settled = async (work: () => Promise<void>): Promise<PromiseSettledResult<void>> => {
  const [result] = await Promise.allSettled([(async () => work())()]);
  return result;
};

/** Undefined when time is up first. `work` never rejects. */
const within = <T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(undefined));
    void work.then(resolve).finally(cancel);
  });

const rest = (clock: Clock, ms: number): Promise<void> =>
  ms <= 0 ? Promise.resolve() : new Promise((resolve) => void clock.after(ms, resolve));
