import { plural, t } from '@svc/chat-ui/language/t.ts';
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
        {() => (samples.length === 0 ? <Empty title={t('Nothing has been measured yet')} /> : <Measured samples={samples} />)}
      </Loaded>
    </div>
  );
}

function Measured({ samples }: { samples: readonly SystemSample[] }) {
  const first = samples[0];
  const now = samples.at(-1);
  const charts = useMemo(() => machineCharts(samples), [samples]);
  if (first === undefined || now === undefined) return null;
  const time = clockTime(first.at);
  return (
    <>
      <Now {...now} />
      <Section title={t('Processor')}>
        <Chart
          label={t('Share of all cores in use, since {time}; now {share}', { time, share: percent(now.cpu_percent) })}
          spec={charts.processor}
        />
      </Section>
      <Section title={t('Memory')}>
        <Chart
          label={t('Memory in use, since {time}; now {size}', { time, size: bytes(now.memory_used_bytes) })}
          spec={charts.memory}
        />
      </Section>
      <Section title={t('Processes of the service')}>
        <div className="chart-pair">
          <Chart
            label={t('Memory of each process, since {time}; the table has what they take now', { time })}
            spec={charts.memoryByProcess}
          />
          <Chart
            label={t('Share of one core of each process, since {time}; the table has it', { time })}
            spec={charts.processorByProcess}
          />
        </div>
        <Table
          caption={t('Processes of the service')}
          rows={now.processes}
          keyOf={({ name, pid }) => `${name} ${pid}`}
          columns={[
            { name: t('Process'), isMain: true, cell: ({ name }) => name },
            { name: t('Number'), isNumber: true, cell: ({ pid }) => String(pid) },
            { name: t('Memory'), isNumber: true, cell: ({ memory_bytes: used }) => bytes(used) },
            { name: t('Share of one core'), isNumber: true, cell: ({ cpu_percent: used }) => percent(used) },
          ]}
        />
      </Section>
      <Section title={t('Over time')}>
        <Table
          caption={t('The machine over time')}
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
        <dt>{t('Processor')}</dt>
        <dd>{plural(cores, '{share} of {n} core', '{share} of {n} cores', { share: percent(cpu) })}</dd>
      </div>
      <div>
        <dt>{t('Memory')}</dt>
        <dd>{t('{used} of {total}', { used: bytes(used), total: bytes(total) })}</dd>
      </div>
      <div>
        <dt>{t('Disk')}</dt>
        <dd>
          {disk.disk_used_bytes === null || disk.disk_total_bytes === null
            ? t('not known')
            : t('{used} of {total}', { used: bytes(disk.disk_used_bytes), total: bytes(disk.disk_total_bytes) })}
        </dd>
      </div>
      <div>
        <dt>{t('Measured')}</dt>
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
  { name: t('Time'), isMain: true, cell: ({ at }: SystemSample) => clockTime(at) },
  { name: t('Processor'), isNumber: true, cell: ({ cpu_percent: cpu }: SystemSample) => percent(cpu) },
  { name: t('Memory'), isNumber: true, cell: ({ memory_used_bytes: used }: SystemSample) => bytes(used) },
];
