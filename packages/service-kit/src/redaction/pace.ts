import { setImmediate as nextTurn } from 'node:timers/promises';

/** So long may one piece of work hold up everything else, ms; a step that was begun is finished. */
const longestHold = 4;

export type Pace = { isDue(): boolean; pause(): Promise<void> };

/** When to let the rest of the process have its turn. */
export function createPace(): Pace {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since >= longestHold,
    async pause() {
      await nextTurn();
      since = performance.now();
    },
  };
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
