import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';
import { readTotals } from '../brief/read-brief.ts';
import type { CommitQueue } from '../ingest/commit-queue.ts';
import type { SessionList } from '../session/session-list.ts';
import type { Sampler } from '../system/sampler.ts';
import type { MetricName, MetricReading } from './metric-list.ts';

export type MetricSources = {
  commitQueue: Pick<CommitQueue, 'ingested' | 'rejected' | 'waiting' | 'lastError'>;
  hub: { readonly size: number };
  sampler: Pick<Sampler, 'latest'>;
  db: Database;
  sessionList: Pick<SessionList, 'countActive'>;
  clock: Clock;
};

const reading = (name: MetricName, value: number, labels: Record<string, string> = {}): MetricReading => ({
  name,
  value,
  labels,
});

/** The current metrics; those of ended processes are left out. */
export async function readMetrics({
  commitQueue,
  hub,
  sampler,
  db,
  sessionList,
  clock,
}: MetricSources): Promise<MetricReading[]> {
  return [
    reading('svc_events_ingested_total', commitQueue.ingested),
    reading('svc_events_rejected_total', commitQueue.rejected),
    reading('svc_events_waiting', commitQueue.waiting),
    reading('svc_store_fault', commitQueue.lastError === null ? 0 : 1),
    reading('svc_feed_listening', hub.size),
    ...machineReadings(sampler),
    reading('svc_sessions_active', await sessionList.countActive()),
    ...(await surfaceReadings(db, clock.now())),
  ];
}

function machineReadings(sampler: MetricSources['sampler']): MetricReading[] {
  const sample = sampler.latest();
  if (sample === null) return [];
  return [
    reading('svc_machine_cpu_percent', sample.cpu_percent),
    reading('svc_machine_load', sample.load[0]),
    reading('svc_machine_memory_bytes', sample.memory_used_bytes, { state: 'used' }),
    reading('svc_machine_memory_bytes', sample.memory_total_bytes, { state: 'total' }),
    reading('svc_machine_disk_bytes', sample.disk_used_bytes ?? 0, { state: 'used' }),
    reading('svc_machine_disk_bytes', sample.disk_total_bytes ?? 0, { state: 'total' }),
    ...sample.processes.flatMap(({ name, kind, memory_bytes, cpu_percent }) => [
      reading('svc_process_memory_bytes', memory_bytes, { name, kind }),
      reading('svc_process_cpu_percent', cpu_percent, { name, kind }),
    ]),
  ];
}

async function surfaceReadings(db: MetricSources['db'], now: number): Promise<MetricReading[]> {
  const { totals } = await readTotals(db, now);
  return totals.flatMap(({ surface, turns, input_tokens, output_tokens, cost_usd, billed_cost_usd, unpriced }) => [
    reading('svc_turns_day', turns, { surface }),
    reading('svc_tokens_day', input_tokens, { surface, direction: 'input' }),
    reading('svc_tokens_day', output_tokens, { surface, direction: 'output' }),
    reading('svc_cost_usd_day', cost_usd, { surface, kind: 'equivalent' }),
    reading('svc_cost_usd_day', billed_cost_usd, { surface, kind: 'billed' }),
    reading('svc_unpriced_day', unpriced, { surface }),
  ]);
}
