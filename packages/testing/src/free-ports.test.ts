import { expect, test } from 'vitest';
import { freePorts, sliceOf } from './free-ports.ts';

test('the port ranges of workers are disjoint and below the ephemeral ports', () => {
  const all = Array.from({ length: 16 }, (_, worker) => sliceOf(worker));
  for (const [index, { from, to }] of all.entries()) {
    expect(to).toBeLessThan(all[index + 1]?.from ?? 32_768);
    expect(to - from).toBeGreaterThan(1000);
  }
});

test('a worker gets ports of its range, each once', async () => {
  const { from, to } = sliceOf(Number(process.env['VITEST_POOL_ID']));
  const ports = [...(await freePorts(30)), ...(await freePorts(30))];
  expect(new Set(ports).size).toBe(60);
  for (const port of ports) expect(port >= from && port <= to, `${port}`).toBe(true);
});
