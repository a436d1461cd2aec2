import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long all stepwise work together may block the event loop, ms. A step that has begun is finished. */
const longestHold = 4;
/** When the first step began in this turn of the event loop. */
let turnSince: number | null = null;

export type Pace = { isDue(): boolean; pause(): Promise<void> };

/** Decides when to yield to the rest of the process. However many tasks there are, each takes at least one step per turn. */
export function createPace(): Pace {
  beginTurn();
  return {
    isDue: () => performance.now() - beginTurn() >= longestHold,
    pause: nextTurn,
  };
}

function beginTurn(): number {
  if (turnSince !== null) return turnSince;
  // Queued before any pause, so it runs before the paused tasks resume.
  setImmediate(() => (turnSince = null));
  return (turnSince = performance.now());
}

/** Work in small steps: its runner decides when to continue. */
export type Steps<T> = Generator<undefined, T, undefined>;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs the steps with pauses for the rest of the process. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  const pace = createPace();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (pace.isDue()) await pace.pause();
  }
}
