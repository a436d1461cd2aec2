import type { collectorSettings } from './declared/collector.ts';
import type { ValuesOf } from './setting.ts';

/** Whole addresses of OTLP over HTTP; null: these are not exported. */
export type OtelSettings = Readonly<{ tracesUrl: string | null; metricsUrl: string | null; metricsEveryMs: number }>;

/** What the variables of OpenTelemetry's specification come to. */
export function otelSettings({ baseUrl, isOff, ...otlp }: ValuesOf<typeof collectorSettings.otlp>): OtelSettings {
  const address = (own: string | null, exporter: 'otlp' | 'none', path: string): string | null =>
    exporter === 'none' || isOff ? null : (own ?? (baseUrl === null ? null : `${baseUrl}${path}`));
  return {
    tracesUrl: address(otlp.tracesUrl, otlp.traces, '/v1/traces'),
    metricsUrl: address(otlp.metricsUrl, otlp.metrics, '/v1/metrics'),
    metricsEveryMs: otlp.metricsEveryMs,
  };
}
