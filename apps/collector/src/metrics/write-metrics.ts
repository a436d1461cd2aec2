import { Gauge, Registry } from 'prom-client';
import { readBrief } from '../brief/read-brief.ts';
import type { CollectorContext } from '../context.ts';

type Deps = Pick<CollectorContext, 'commitQueue' | 'hub' | 'sampler' | 'db' | 'clock'>;

const of = (...labelNames: string[]) => labelNames;

/** What the collector knows, as metrics; everything is read when it is asked for. */
export function createMetrics({ commitQueue, hub, sampler, db, clock }: Deps): () => Promise<{ type: string; body: string }> {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `svc_${name}`, help, labelNames, registers: [registry] });

  const ingested = gauge('events_ingested_total', 'Events taken since the collector started');
  const rejected = gauge('events_rejected_total', 'Events refused since the collector started');
  const waiting = gauge('events_waiting', 'Events that wait to be stored');
  const storeFault = gauge('store_fault', '1 while events cannot be stored');
  const readers = gauge('feed_listening', 'Carriers of the live feed that have readers');
  const active = gauge('sessions_active', 'Sessions with a running turn or an event in the last 15 minutes');
  const tokens = gauge('tokens_day', 'Tokens of the last 24 hours', of('surface', 'direction'));
  const turns = gauge('turns_day', 'Turns of the last 24 hours', of('surface'));
  const cost = gauge('cost_usd_day', 'List price of the last 24 hours', of('surface', 'kind'));
  const cpu = gauge('machine_cpu_percent', 'Busy share of all cores');
  const load = gauge('machine_load', 'Load average of a minute');
  const memory = gauge('machine_memory_bytes', 'Memory', of('state'));
  const disk = gauge('machine_disk_bytes', 'Disk of the data folder', of('state'));
  const processMemory = gauge('process_memory_bytes', 'Resident memory of a process of the service', of('name', 'kind'));
  const processCpu = gauge('process_cpu_percent', 'Share of one core', of('name', 'kind'));

  const readBriefly = async () => {
    const brief = await readBrief(db, clock.now());
    active.set(brief.active.length);
    for (const row of brief.totals) {
      const { surface } = row;
      turns.set({ surface }, row.turns);
      tokens.set({ surface, direction: 'input' }, row.input_tokens);
      tokens.set({ surface, direction: 'output' }, row.output_tokens);
      cost.set({ surface, kind: 'equivalent' }, row.cost_usd);
      cost.set({ surface, kind: 'billed' }, row.billed_cost_usd);
    }
  };
  const readMachine = () => {
    const sample = sampler.latest();
    if (sample === null) return;
    cpu.set(sample.cpu_percent);
    load.set(sample.load[0]);
    memory.set({ state: 'used' }, sample.memory_used_bytes);
    memory.set({ state: 'total' }, sample.memory_total_bytes);
    disk.set({ state: 'used' }, sample.disk_used_bytes ?? 0);
    disk.set({ state: 'total' }, sample.disk_total_bytes ?? 0);
    for (const { name, kind, memory_bytes, cpu_percent } of sample.processes) {
      processMemory.set({ name, kind }, memory_bytes);
      processCpu.set({ name, kind }, cpu_percent);
    }
  };
  return async () => {
    // What is no more must not be told of.
    registry.resetMetrics();
    ingested.set(commitQueue.ingested);
    rejected.set(commitQueue.rejected);
    waiting.set(commitQueue.waiting);
    storeFault.set(commitQueue.lastError === null ? 0 : 1);
    readers.set(hub.size);
    readMachine();
    await readBriefly();
    return { type: registry.contentType, body: await registry.metrics() };
  };
}
