import { t } from '@svc/chat-ui/language/t.ts';
import type { SystemSample } from '@svc/contract/insights.ts';
import type { ChartSpec, Measure } from '../../parts/chart/chart-spec.ts';
import { bytes } from '../../parts/format.ts';

/** Samples come every 15 s: a longer gap is left empty. */
const holeMs = 60_000;
const maxProcesses = 6;

const inPercent: Measure = {
  words: (value) => `${Math.round(value)} %`,
  steps: [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000],
};
const inBytes: Measure = {
  words: bytes,
  steps: [0, 1, 2, 3, 4].flatMap((power) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((value) => value * 1024 ** power)),
};

/** Each sample, with an empty point where the service took none. The oldest first. */
function withHoles(samples: readonly SystemSample[]): { at: number; sample: SystemSample | null }[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1];
    const hole = before !== undefined && sample.at - before.at > holeMs ? [{ at: before.at + 1, sample: null }] : [];
    return [...hole, { at: sample.at, sample }];
  });
}

type Charts = Record<'processor' | 'memory' | 'memoryByProcess' | 'processorByProcess', ChartSpec>;

/** The machine over time, and the processes of the service that use most memory now. `samples`: the oldest first, at least one. */
export function machineCharts(samples: readonly SystemSample[]): Charts {
  const places = withHoles(samples);
  const at = places.map((place) => place.at);
  const line = (of: (sample: SystemSample) => number | undefined) =>
    places.map(({ sample }) => (sample === null ? null : (of(sample) ?? null)));
  const now = samples.at(-1);
  const largest = (now?.processes ?? [])
    .toSorted((one, other) => other.memory_bytes - one.memory_bytes)
    .slice(0, maxProcesses)
    .map(({ name }) => name);
  const ofProcess = (field: 'memory_bytes' | 'cpu_percent') =>
    largest.map((name) => ({
      name,
      values: line(({ processes }) => processes.find((process) => process.name === name)?.[field]),
    }));
  const times = { kind: 'times', at } as const;
  return {
    processor: {
      ...times,
      ...inPercent,
      most: 100,
      series: [{ name: t('All cores'), values: line((each) => each.cpu_percent) }],
    },
    memory: {
      ...times,
      ...inBytes,
      ...(now !== undefined && { most: now.memory_total_bytes }),
      series: [{ name: t('Used'), values: line((each) => each.memory_used_bytes) }],
    },
    memoryByProcess: { ...times, ...inBytes, series: ofProcess('memory_bytes') },
    processorByProcess: { ...times, ...inPercent, series: ofProcess('cpu_percent') },
  };
}
