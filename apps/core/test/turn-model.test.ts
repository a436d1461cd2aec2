import fc from 'fast-check';
import { afterEach, beforeEach, test, vi } from 'vitest';
import { act } from './turn-model/actions.ts';
import { checkAtRest, comeToRest } from './turn-model/at-rest.ts';
import { paths, type PacedStep } from './turn-model/steps.ts';
import { openWorld } from './turn-model/world.ts';

const numRuns = Number(process.env['TURN_MODEL_RUNS'] ?? 75);
const seed = process.env['TURN_MODEL_SEED'];

// Commits that nothing waits for follow a timer of the process: here the model controls it.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('random actions and crashes: turns keep their order, run once, and nothing is lost', async () => {
  const property = fc.asyncProperty(paths, async (steps) => {
    const broken = await walk(steps);
    if (broken.length > 0) throw new Error(broken.join('\n'));
  });
  await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) });
}, 600_000);

async function walk(steps: readonly PacedStep[]): Promise<string[]> {
  const world = await openWorld();
  try {
    for (const step of steps) {
      await act(world, step);
      if (world.records.broken.length > 0) return world.records.broken;
    }
    await comeToRest(world);
    checkAtRest(world);
    return world.records.broken;
  } finally {
    await world.close();
  }
}
