import { setImmediate as nextTurn } from 'node:timers/promises';

/** So long may all work in steps together hold up everything else, ms; a step that was begun is finished. */
const longestHold = 4;
/** When the first of them began in this turn of the event loop. */
let turnSince: number | null = null;

export type Pace = { isDue(): boolean; pause(): Promise<void> };

/** When to let the rest of the process have its turn. However many works there are, each takes one step in a turn at least. */
export function createPace(): Pace {
  beginTurn();
  return {
    isDue: () => performance.now() - beginTurn() >= longestHold,
    pause: nextTurn,
  };
}

function beginTurn(): number {
  if (turnSince !== null) return turnSince;
  // Queued before anybody's pause, so it is over before they go on.
  setImmediate(() => (turnSince = null));
  return (turnSince = performance.now());
}

/** Work in small steps: what runs it decides when it goes on. */
export type Steps<T> = Generator<undefined, T, undefined>;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The rest of the process has its turn between the steps. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  const pace = createPace();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (pace.isDue()) await pace.pause();
  }
}
