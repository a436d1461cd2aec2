import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import type { Usage } from '@svc/service-kit/process/process-usage.ts';
import { createUsageMeter } from './usage-meter.ts';

test('memory is shown from the first sample and CPU from the second', async () => {
  const clock = createFakeClock();
  const looks: (Usage | null)[] = [{ memoryBytes: 1000, cpuMs: 500 }, { memoryBytes: 2000, cpuMs: 3000 }, null];
  const meter = createUsageMeter(clock, async () => looks.shift() ?? null);
  await meter.sample(7);
  expect(meter.read(7)).toEqual({ memory_bytes: 1000, cpu_percent: 0, at: clock.now() });
  clock.advance(10_000);
  await meter.sample(7);
  const second = { memory_bytes: 2000, cpu_percent: 25, at: clock.now() };
  expect(meter.read(7)).toEqual(second);
  await meter.sample(7);
  expect(meter.read(7)).toEqual(second);
});

test('another process starts new measurements', async () => {
  const meter = createUsageMeter(createFakeClock(), async (pid) => ({ memoryBytes: pid, cpuMs: pid }));
  await meter.sample(7);
  expect(meter.read(8)).toBeNull();
  await meter.sample(8);
  expect(meter.read(8)).toMatchObject({ cpu_percent: 0 });
});

test('measures its own process', async () => {
  const meter = createUsageMeter(createFakeClock());
  await meter.sample(process.pid);
  expect(meter.read(process.pid)?.memory_bytes).toBeGreaterThan(10_000_000);
});

test('CPU is measured by elapsed time, even when the clock is changed', async () => {
  const clock = createFakeClock();
  let cpuMs = 0;
  const meter = createUsageMeter(clock, async () => ({ memoryBytes: 1, cpuMs: (cpuMs += 2500) }));
  for (const backMs of [0, 3_600_000, -7_200_000]) {
    await meter.sample(7);
    clock.setBack(backMs);
    clock.advance(10_000);
  }
  await meter.sample(7);
  expect(meter.read(7)).toMatchObject({ cpu_percent: 25, at: clock.now() });
});
