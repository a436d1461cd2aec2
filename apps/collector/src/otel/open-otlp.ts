import type { HrTime, Span } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { metricList, type MetricName, type MetricReading } from '../metrics/metric-list.ts';
import type { OtelPackages } from './otel-packages.ts';
import type { SpanPlan } from './to-spans.ts';

export type OtlpResult = { what: 'traces' | 'metrics'; count: number; error: Error | null };

export type OtlpOptions = {
  /** Null: traces are not exported. */
  tracesUrl: string | null;
  metricsUrl: string | null;
  metricsEveryMs: number;
  version: string;
  readMetrics(): Promise<MetricReading[]>;
  /** Called after each try to send. */
  onResult(result: OtlpResult): void;
};

export type Otlp = {
  /** Sends the spans of one trace, its root first. Never throws if they cannot be sent. */
  send(plans: readonly SpanPlan[]): void;
  /** Sends everything that is waiting. */
  flush(): Promise<void>;
  /** Sends everything that is waiting, then closes. */
  close(): Promise<void>;
};

/** Limits: the spans that wait while nothing can be sent, and the time of one try. */
export const maxQueue = 8192;
const batch = 512;
const timeoutMs = 10_000;
const scope = 'assistant-gateway';

/** Opens the export by OTLP over HTTP, in JSON. Headers and other options come from the standard environment variables. */
export function openOtlp(packages: OtelPackages, options: OtlpOptions): Otlp {
  const traces = openTraces(packages, options);
  const metrics = openMetrics(packages, options);
  const all = [traces, metrics].filter((each) => each !== null);
  return {
    send: (plans) => traces?.send(plans),
    flush: async () => void (await Promise.allSettled(all.map(({ provider }) => provider.forceFlush()))),
    close: async () => void (await Promise.allSettled(all.map(({ provider }) => provider.shutdown()))),
  };
}

function resourceOf({ resources }: OtelPackages, version: string) {
  const { resourceFromAttributes, detectResources, resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
  const own = resourceFromAttributes({ 'service.name': scope, 'service.version': version });
  return own.merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }));
}

function openTraces(packages: OtelPackages, { tracesUrl, version, onResult }: OtlpOptions) {
  if (tracesUrl === null) return null;
  const { api, traces, traceExporter } = packages;
  // The ids of the plan, for the next span that is started.
  const next = { traceId: '', spanId: '' };
  const exporter = reporting(new traceExporter.OTLPTraceExporter({ url: tracesUrl, timeoutMillis: timeoutMs }), onResult);
  const provider = new traces.TracerProvider({
    resource: resourceOf(packages, version),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    spanLimits: { attributeValueLengthLimit: 1024, attributeCountLimit: 64 },
    spanProcessors: [new traces.BatchSpanProcessor({ exporter, maxQueueSize: maxQueue, maxExportBatchSize: batch })],
  });
  const tracer = provider.getTracer(scope, version);
  const kinds = {
    server: api.SpanKind.SERVER,
    internal: api.SpanKind.INTERNAL,
    client: api.SpanKind.CLIENT,
    producer: api.SpanKind.PRODUCER,
  };
  const begin = ({ traceId, spanId, parentId, name, kind, startAt, attributes }: SpanPlan): Span => {
    Object.assign(next, { traceId, spanId });
    const parent = parentId === null ? null : { traceId, spanId: parentId, traceFlags: api.TraceFlags.SAMPLED };
    const context = parent === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
    return tracer.startSpan(name, { kind: kinds[kind], startTime: toTime(startAt), attributes }, context);
  };
  const send = (plans: readonly SpanPlan[]) => {
    for (const plan of plans) {
      const span = begin(plan);
      if (plan.error !== null) {
        span.setAttribute('error.type', plan.error);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end(toTime(plan.endAt));
    }
  };
  return { provider, send };
}

/** Milliseconds as seconds and nanoseconds, because the library interprets small numbers differently. */
const toTime = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];

function openMetrics(packages: OtelPackages, { metricsUrl, metricsEveryMs, version, readMetrics, onResult }: OtlpOptions) {
  if (metricsUrl === null) return null;
  const { metrics, metricExporter } = packages;
  const exporter = reportingMetrics(
    new metricExporter.OTLPMetricExporter({ url: metricsUrl, timeoutMillis: timeoutMs }),
    onResult,
  );
  const exportTimeoutMillis = Math.min(timeoutMs, metricsEveryMs);
  const reader = new metrics.PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: metricsEveryMs,
    exportTimeoutMillis,
  });
  const provider = new metrics.MeterProvider({ resource: resourceOf(packages, version), readers: [reader] });
  const meter = provider.getMeter(scope, version);
  const instruments = new Map(
    Object.entries(metricList).map(([name, { help: description }]) => {
      const counts = name.endsWith('_total');
      return [
        name,
        counts ? meter.createObservableCounter(name, { description }) : meter.createObservableGauge(name, { description }),
      ];
    }),
  );
  const instrumentOf = (name: MetricName) => instruments.get(name);
  meter.addBatchObservableCallback(
    async (result) => {
      for (const { name, value, labels } of await readMetrics()) {
        const instrument = instrumentOf(name);
        if (instrument !== undefined) result.observe(instrument, value, labels);
      }
    },
    [...instruments.values()],
  );
  return { provider };
}

/** An exporter that reports the result of each try, which the library itself does not. */
function reporting(exporter: SpanExporter, onResult: OtlpOptions['onResult']): SpanExporter {
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        onResult({ what: 'traces', count: spans.length, error: faultOf(result) });
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function reportingMetrics(exporter: PushMetricExporter, onResult: OtlpOptions['onResult']): PushMetricExporter {
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        onResult({ what: 'metrics', count: 1, error: faultOf(result) });
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
    ...(exporter.selectAggregationTemporality === undefined
      ? {}
      : { selectAggregationTemporality: exporter.selectAggregationTemporality.bind(exporter) }),
    ...(exporter.selectAggregation === undefined ? {} : { selectAggregation: exporter.selectAggregation.bind(exporter) }),
  };
}

/** 0 is the library's code for success. */
const faultOf = ({ code, error }: { code: number; error?: Error }): Error | null =>
  code === 0 ? null : (error ?? new Error('the receiver did not accept it'));
