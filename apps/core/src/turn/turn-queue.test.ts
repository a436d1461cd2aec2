import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import type { Work } from './ticket.ts';
import { createTurnQueue, type TurnQueue } from './turn-queue.ts';

const unheard = () => undefined;

const run = async <T>(queue: TurnQueue, key: string, work: Work<T>, onQueued: (position: number) => void = unheard) =>
  queue.enter(key).run(work, onQueued);

/** Work that lasts until the test calls `open()`. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test('turns of one conversation run one after another, in order of arrival', async () => {
  const queue = createTurnQueue({ slots: 8, maxWaiting: 100 }, systemClock);
  const seen: string[] = [];
  const turn = (name: string) =>
    run(
      queue,
      'key',
      async () => {
        seen.push(`${name} starts`);
        await Promise.resolve();
        seen.push(`${name} ends`);
      },
      unheard,
    );
  await Promise.all([turn('a'), turn('b'), turn('c')]);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('a turn that waits for its own conversation occupies no slot', async () => {
  const queue = createTurnQueue({ slots: 2, maxWaiting: 100 }, systemClock);
  const first = gate();
  const running = run(queue, 'a', () => first.opened);
  const behind = run(queue, 'a', () => Promise.resolve());
  await expect(run(queue, 'b', () => Promise.resolve('answered'))).resolves.toBe('answered');
  first.open();
  await Promise.all([running, behind]);
});

test('a waiting turn reports its position, and turns over the limit are rejected', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 2 }, systemClock);
  const first = gate();
  const positions: number[] = [];
  const running = run(queue, 'a', () => first.opened);
  const waiting = ['b', 'c'].map((key) =>
    run(
      queue,
      key,
      () => Promise.resolve(),
      (position) => positions.push(position),
    ),
  );
  await expect(run(queue, 'd', () => Promise.resolve())).rejects.toMatchObject({ code: 'queue_full', status: 429 });
  first.open();
  await Promise.all([running, ...waiting]);
  expect(positions).toEqual([1, 2]);
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
});

test('abort() reaches only the running turn, once', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 10 }, systemClock);
  const reasons: unknown[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        resolve();
      });
    });
  const running = run(queue, 'a', work);
  await Promise.resolve();
  expect(queue.abort('b', 'operator')).toBe(false);
  expect(queue.abort('a', 'operator')).toBe(true);
  expect(queue.abort('a', 'operator')).toBe(false);
  await running;
  expect(reasons).toEqual(['operator']);
  expect(queue.abort('a', 'operator')).toBe(false);
});

test('close() rejects waiting and new turns, and aborts running ones after the deadline', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 10 }, systemClock);
  const endless = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const running = run(queue, 'a', endless);
  const waiting = run(queue, 'b', () => Promise.resolve());
  const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  await queue.close(5);
  await running;
  await refused;
  await expect(run(queue, 'c', () => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable' });
});

test('random turns never overlap within a key, keep to the slots and leave nothing behind', async () => {
  const turns = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), ticks: fc.nat(5), fails: fc.boolean() }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(turns, fc.integer({ min: 1, max: 3 }), async (list, slots) => {
      const queue = createTurnQueue({ slots, maxWaiting: 1000 }, systemClock);
      const running = new Set<string>();
      const order: Record<string, number[]> = {};
      await Promise.allSettled(
        list.map(({ key, ticks, fails }, index) =>
          run(
            queue,
            key,
            async () => {
              expect(running.has(key)).toBe(false);
              running.add(key);
              expect(running.size).toBeLessThanOrEqual(slots);
              (order[key] ??= []).push(index);
              for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
              running.delete(key);
              if (fails) throw new Error('a fault of the work');
            },
            unheard,
          ),
        ),
      );
      expect(Object.values(order).flat().length).toBe(list.length);
      for (const indexes of Object.values(order)) expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
      for (const key of 'abcd') expect(queue.stateOf(key)).toBe('idle');
    }),
    { numRuns: 300 },
  );
});

test('a turn whose position cannot be reported fails, and the next one runs', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 10 }, systemClock);
  const first = gate();
  const running = run(queue, 'a', () => first.opened);
  const faulty = run(
    queue,
    'a',
    () => Promise.resolve(),
    () => {
      throw new Error('a fault of the listener');
    },
  );
  const behind = run(queue, 'a', () => Promise.resolve('answered'));
  await expect(faulty).rejects.toThrow('fault of the listener');
  first.open();
  await running;
  await expect(behind).resolves.toBe('answered');
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
});

test('during a hold only exempt turns run, and held ones run in order after it', async () => {
  const queue = createTurnQueue({ slots: 2, maxWaiting: 100 }, systemClock);
  const order: string[] = [];
  const run = (key: string, passesHold = false) =>
    queue.enter(key, { passesHold }).run(
      () => Promise.resolve(void order.push(key)),
      () => undefined,
    );
  const release = queue.hold();
  const held = [run('a'), run('b'), run('c')];
  await run('d', true);
  expect(order).toEqual(['d']);
  release();
  await Promise.all(held);
  expect(order).toEqual(['d', 'a', 'b', 'c']);
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
});

test('a turn that waits for a person frees its slot, keeps its conversation and resumes before waiting turns', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 10 }, systemClock);
  const [answer, other] = [gate(), gate()];
  const order: string[] = [];
  const asking = run(queue, 'a', async (_signal, rest) => {
    await rest(() => answer.opened);
    order.push('asked');
  });
  const behind = run(queue, 'a', async () => void order.push('behind'));
  const running = run(queue, 'b', () => other.opened);
  const waiting = run(queue, 'c', async () => void order.push('waiting'));
  expect([queue.stateOf('a'), queue.stateOf('b'), queue.counts()]).toEqual(['running', 'running', { running: 2, waiting: 2 }]);
  answer.open();
  await Promise.resolve();
  expect(order).toEqual([]);
  other.open();
  await Promise.all([asking, behind, running, waiting]);
  expect(order.slice(0, 1)).toEqual(['asked']);
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
});

test('as many turns can wait for a person as there are slots; further ones keep their slot', async () => {
  const queue = createTurnQueue({ slots: 1, maxWaiting: 10 }, systemClock);
  const answer = gate();
  const asking = ['a', 'b', 'c'].map((key) => run(queue, key, (_signal, rest) => rest(() => answer.opened)));
  expect(queue.counts()).toEqual({ running: 2, waiting: 1 });
  answer.open();
  await Promise.all(asking);
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
});

test('an aborted turn does not wait for a slot, and a turn that ends while resting leaves nothing behind', async () => {
  const queue = createTurnQueue({ slots: 2, maxWaiting: 10 }, systemClock);
  const [answer, other] = [gate(), gate()];
  const asking = run(queue, 'a', async (signal, rest) => {
    await rest(() => answer.opened);
    return signal.aborted;
  });
  let hasCome = false;
  const careless = run(queue, 'c', async (_signal, rest) => {
    void rest(() => answer.opened).then(() => (hasCome = true));
    await answer.opened;
  });
  const running = ['b', 'e'].map((key) => run(queue, key, () => other.opened));
  answer.open();
  await careless;
  await expect.poll(() => hasCome).toBe(true);
  expect(queue.abort('a', 'operator')).toBe(true);
  expect(await asking).toBe(true);
  other.open();
  await Promise.all(running);
  expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
  await expect(run(queue, 'd', () => Promise.resolve('answered'))).resolves.toBe('answered');
});

test('random rests, aborts and failures never exceed the slots and leave nothing behind', async () => {
  const step = fc.constantFrom('work', 'rest', 'abort', 'fail');
  const turns = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), steps: fc.array(step, { maxLength: 5 }) }), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(turns, fc.integer({ min: 1, max: 3 }), async (list, slots) => {
      const queue = createTurnQueue({ slots, maxWaiting: 1000 }, systemClock);
      const working = new Set<number>();
      let most = 0;
      const work = (signal: AbortSignal, index: number) => {
        if (!signal.aborted) working.add(index);
        most = Math.max(most, working.size);
      };
      await Promise.allSettled(
        list.map(({ key, steps }, index) =>
          run(queue, key, async (signal, rest) => {
            try {
              work(signal, index);
              for (const each of steps) {
                if (each === 'abort') queue.abort(list[(index + 1) % list.length]?.key ?? key, 'operator');
                if (each === 'fail') throw new Error('a fault of the work');
                if (each === 'rest') {
                  working.delete(index);
                  await rest(() => Promise.resolve());
                }
                if (signal.aborted) return;
                work(signal, index);
                await Promise.resolve();
              }
            } finally {
              working.delete(index);
            }
          }),
        ),
      );
      expect(most).toBeLessThanOrEqual(slots);
      expect(queue.counts()).toEqual({ running: 0, waiting: 0 });
      for (const key of 'abcde') expect(queue.stateOf(key)).toBe('idle');
    }),
    { numRuns: 300 },
  );
});
