import type { SystemSamples } from '@svc/contract/insights.ts';
import { bytes, fullTime } from '../../parts/format.ts';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Table } from '../../parts/table.tsx';

const percent = (value: number): string => `${Math.round(value)} %`;

/** The machine and our processes as they were at the last look. */
export function Machine() {
  const query = useApi<SystemSamples>('/collector/api/system?limit=1', 15_000);
  return (
    <div className="view">
      <Loaded query={query}>
        {({ samples: [now] }) =>
          now === undefined ? (
            <Empty title="Nothing was measured yet" />
          ) : (
            <>
              <dl className="figures">
                <div>
                  <dt>Processor</dt>
                  <dd>
                    {percent(now.cpu_percent)} of {now.cores} cores
                  </dd>
                </div>
                <div>
                  <dt>Memory</dt>
                  <dd>
                    {bytes(now.memory_used_bytes)} of {bytes(now.memory_total_bytes)}
                  </dd>
                </div>
                <div>
                  <dt>Disk</dt>
                  <dd>
                    {now.disk_used_bytes === null || now.disk_total_bytes === null
                      ? 'not known'
                      : `${bytes(now.disk_used_bytes)} of ${bytes(now.disk_total_bytes)}`}
                  </dd>
                </div>
                <div>
                  <dt>Measured</dt>
                  <dd>{fullTime(now.at)}</dd>
                </div>
              </dl>
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
            </>
          )
        }
      </Loaded>
    </div>
  );
}
