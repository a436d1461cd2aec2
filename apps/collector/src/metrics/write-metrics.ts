import { Counter, Gauge, Registry, type CounterConfiguration } from 'prom-client';
import { metricList, type MetricName } from './metric-list.ts';
import { readMetrics, type MetricSources } from './read-metrics.ts';

/** The metrics in the text format of Prometheus; everything is read when it is asked for. */
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
    // What is gone must not be reported any more.
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

/** Counts from nothing, which is what `resetMetrics` leaves. */
function counter(config: Config) {
  const made = new Counter(config);
  return (labels: Record<string, string>, value: number) => made.inc(labels, value);
}
