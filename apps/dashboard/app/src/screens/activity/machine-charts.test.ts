import type { SystemSample } from '@svc/contract/insights.ts';
import { expect, test } from 'vitest';
import { machineCharts } from './machine-charts.ts';

const sample = (at: number, processes: [name: string, memory: number][] = []): SystemSample => ({
  at,
  cpu_percent: 10,
  cores: 2,
  load: [1, 1, 1],
  memory_used_bytes: at,
  memory_total_bytes: 1e9,
  disk_used_bytes: null,
  disk_total_bytes: null,
  processes: processes.map(([name, memory_bytes], pid) => ({ name, kind: 'host', pid, memory_bytes, cpu_percent: 1 })),
});

test('a gap between samples interrupts the line', () => {
  const { memory } = machineCharts([sample(15_000), sample(30_000), sample(300_000)]);
  expect(memory).toMatchObject({ at: [15_000, 30_000, 30_001, 300_000], series: [{ values: [15_000, 30_000, null, 300_000] }] });
});

test('the line of a process continues after a restart, and that of a new process begins later', () => {
  const { memoryByProcess } = machineCharts([
    sample(15_000, [['core', 5]]),
    sample(30_000, [
      ['vault', 9],
      ['core', 6],
    ]),
  ]);
  expect(memoryByProcess.series).toEqual([
    { name: 'vault', values: [null, 9] },
    { name: 'core', values: [5, 6] },
  ]);
});

test('scale labels are whole numbers without duplicates', () => {
  const charts = machineCharts([sample(15_000), sample(30_000)]);
  for (const { words, steps } of Object.values(charts)) {
    const said = (steps ?? []).map(words);
    expect(said.length).toBeGreaterThan(0);
    expect(new Set(said).size).toBe(said.length);
    for (const each of said) expect(each).toMatch(/^\d+ (%|B|KB|MB|GB|TB)$/);
  }
});
