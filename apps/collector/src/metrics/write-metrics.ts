import { Counter, Gauge, Registry, type CounterConfiguration } from 'prom-client';
import { metricList, type MetricName } from './metric-list.ts';
import { readMetrics, type MetricSources } from './read-metrics.ts';

/** The metrics in the text format of Prometheus, read with each request. */
export function createMetrics(sources: MetricSources): () => Promise<{ type: string; body: string }> {
  const registry = new Registry();
  const setters = new Map<string, (labels: Record<string, string>, value: number) => void>();
  for (const [name, { help, labels }] of Object.entries(metricList)) {
    const config = { name, help, labelNames: [...labels], registers: [registry] };
    setters.set(name, name.endsWith('_total') ? counter(config) : gauge(config));
  }
  const set = (name: MetricName, labels: Record<string, string>, value: number) => setters.get(name)?.(labels, value);
  return async () => {
    const readings = await readMetrics(sources);
    // Removes metrics of processes that have ended.
    registry.resetMetrics();
    for (const { name, labels, value } of readings) set(name, labels, value);
    return { type: registry.contentType, body: await registry.metrics() };
  };
}

type Config = CounterConfiguration<string>;

function gauge(config: Config) {
  const made = new Gauge(config);
  return (labels: Record<string, string>, value: number) => made.set(labels, value);
}

/** `resetMetrics` sets counters to 0, so adding the total gives the total. */
function counter(config: Config) {
  const made = new Counter(config);
  return (labels: Record<string, string>, value: number) => made.inc(labels, value);
}
