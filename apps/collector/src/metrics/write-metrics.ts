import { Gauge, Registry } from 'prom-client';
import { metricList, type MetricName } from './metric-list.ts';
import { readMetrics, type MetricSources } from './read-metrics.ts';

/** The metrics in the text format of Prometheus; everything is read when it is asked for. */
export function createMetrics(sources: MetricSources): () => Promise<{ type: string; body: string }> {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  for (const [name, { help, labels }] of Object.entries(metricList))
    gauges.set(name, new Gauge({ name, help, labelNames: [...labels], registers: [registry] }));
  const set = (name: MetricName, labels: Record<string, string>, value: number) => gauges.get(name)?.set(labels, value);
  return async () => {
    const readings = await readMetrics(sources);
    // What is no more must not be told of.
    registry.resetMetrics();
    for (const { name, labels, value } of readings) set(name, labels, value);
    return { type: registry.contentType, body: await registry.metrics() };
  };
}
