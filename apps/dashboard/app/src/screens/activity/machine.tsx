import type { SystemSample } from '@svc/contract/insights.ts';
import { useMemo } from 'react';
import { Chart } from '../../parts/chart/chart.tsx';
import { bytes, clockTime, fullTime } from '../../parts/format.ts';
import { Empty, Loaded, Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { machineCharts } from './machine-charts.ts';
import { useSamples } from './use-samples.ts';

const percent = (value: number): string => `${Math.round(value)} %`;

/** The machine and our processes: as they are now, and over the last hour. */
export function Machine() {
  const { query, samples } = useSamples();
  return (
    <div className="view">
      <Loaded query={query}>
        {() => (samples.length === 0 ? <Empty title="Nothing was measured yet" /> : <Measured samples={samples} />)}
      </Loaded>
    </div>
  );
}

function Measured({ samples }: { samples: readonly SystemSample[] }) {
  const first = samples[0];
  const now = samples.at(-1);
  const charts = useMemo(() => machineCharts(samples), [samples]);
  if (first === undefined || now === undefined) return null;
  const since = `since ${clockTime(first.at)}`;
  return (
    <>
      <Now {...now} />
      <Section title="Processor">
        <Chart label={`Share of all cores in use, ${since}; now ${percent(now.cpu_percent)}`} spec={charts.processor} />
      </Section>
      <Section title="Memory">
        <Chart label={`Memory in use, ${since}; now ${bytes(now.memory_used_bytes)}`} spec={charts.memory} />
      </Section>
      <Section title="Processes of the service">
        <div className="chart-pair">
          <Chart label={`Memory of each process, ${since}; the table has what they take now`} spec={charts.memoryByProcess} />
          <Chart label={`Share of one core of each process, ${since}; the table has it`} spec={charts.processorByProcess} />
        </div>
        <Table
          caption="Processes of the service"
          rows={now.processes}
          keyOf={({ name, pid }) => `${name} ${pid}`}
          columns={[
            { name: 'Process', isMain: true, cell: ({ name }) => name },
            { name: 'Number', isNumber: true, cell: ({ pid }) => String(pid) },
            { name: 'Memory', isNumber: true, cell: ({ memory_bytes: used }) => bytes(used) },
            { name: 'Share of one core', isNumber: true, cell: ({ cpu_percent: used }) => percent(used) },
          ]}
        />
      </Section>
      <Section title="Over time">
        <Table
          caption="The machine over time"
          rows={overTime(samples)}
          keyOf={({ at }) => String(at)}
          columns={overTimeColumns}
        />
      </Section>
    </>
  );
}

function Now({ at, cores, cpu_percent: cpu, memory_used_bytes: used, memory_total_bytes: total, ...disk }: SystemSample) {
  return (
    <dl className="figures">
      <div>
        <dt>Processor</dt>
        <dd>
          {percent(cpu)} of {cores} cores
        </dd>
      </div>
      <div>
        <dt>Memory</dt>
        <dd>
          {bytes(used)} of {bytes(total)}
        </dd>
      </div>
      <div>
        <dt>Disk</dt>
        <dd>
          {disk.disk_used_bytes === null || disk.disk_total_bytes === null
            ? 'not known'
            : `${bytes(disk.disk_used_bytes)} of ${bytes(disk.disk_total_bytes)}`}
        </dd>
      </div>
      <div>
        <dt>Measured</dt>
        <dd>{fullTime(at)}</dd>
      </div>
    </dl>
  );
}

const stepMs = 5 * 60_000;

/** A sample for each five minutes, the newest first. */
const overTime = (samples: readonly SystemSample[]): SystemSample[] =>
  [...new Map(samples.map((sample) => [Math.floor(sample.at / stepMs), sample])).values()].toReversed();

const overTimeColumns = [
  { name: 'Time', isMain: true, cell: ({ at }: SystemSample) => clockTime(at) },
  { name: 'Processor', isNumber: true, cell: ({ cpu_percent: cpu }: SystemSample) => percent(cpu) },
  { name: 'Memory', isNumber: true, cell: ({ memory_used_bytes: used }: SystemSample) => bytes(used) },
];
