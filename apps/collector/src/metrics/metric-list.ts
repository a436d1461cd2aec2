/** A metric of the collector: its description and its labels. All exporters use the same list. */
export type MetricInfo = { help: string; labels: readonly string[] };

const metric = (help: string, ...labels: string[]): MetricInfo => ({ help, labels });

export const metricList = {
  svc_events_ingested_total: metric('Events accepted since the collector started'),
  svc_events_rejected_total: metric('Events rejected since the collector started'),
  svc_events_waiting: metric('Events waiting to be stored'),
  svc_store_fault: metric('1 while events cannot be stored'),
  svc_feed_listening: metric('Transports of the live feed that have readers'),
  svc_sessions_active: metric('Sessions with a running turn or program, or an event in the last 15 minutes'),
  svc_tokens_day: metric('Tokens of the last 24 hours', 'surface', 'direction'),
  svc_turns_day: metric('Turns of the last 24 hours', 'surface'),
  svc_cost_usd_day: metric('List price of the last 24 hours, side calls included', 'surface', 'kind'),
  svc_unpriced_day: metric('Turns and side calls of the last 24 hours without a known price', 'surface'),
  svc_machine_cpu_percent: metric('Busy share of all cores'),
  svc_machine_load: metric('Load average of a minute'),
  svc_machine_memory_bytes: metric('Memory', 'state'),
  svc_machine_disk_bytes: metric('Disk of the data folder', 'state'),
  svc_process_memory_bytes: metric('Resident memory of a process of the service', 'name', 'kind'),
  svc_process_cpu_percent: metric('Share of one core', 'name', 'kind'),
} as const satisfies Record<string, MetricInfo>;

export type MetricName = keyof typeof metricList;
export type MetricReading = { name: MetricName; value: number; labels: Record<string, string> };
