import { pause } from './pause.ts';

/** Polls until `is` returns true, for conditions without an event. The limit only prevents hanging. */
export async function until(is: () => boolean | Promise<boolean>, ms = 40_000): Promise<void> {
  for (const end = performance.now() + ms; !(await is());) {
    if (performance.now() > end) throw new Error(`the condition did not hold within ${ms / 1000} s`);
    await pause(10);
  }
}
