import path from 'node:path';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { OtelState, OtelView } from '@svc/contract/insights.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { readMetrics, type MetricSources } from '../metrics/read-metrics.ts';
import { gatherTurns, createTurnDeliveries } from './gather-turns.ts';
import { installOtelPackages, loadOtelPackages, packageFolders, type OtelPackages } from './otel-packages.ts';
import { maxQueue, openOtlp, type Otlp, type OtlpResult } from './open-otlp.ts';
import { toSpans, type SpanPlan } from './to-spans.ts';

type Deps = MetricSources & {
  settings: Pick<Settings, 'dataDir' | 'engineRegistry' | 'assistantName' | 'otel'>;
  version: string;
  log: Pick<Log, 'info' | 'warn'>;
  /** What every span passes before it is sent. */
  mask: OutboundMask;
  /** Other ones in tests. */
  load?: (folders: readonly string[]) => OtelPackages | null;
  install?: (folder: string, registry: string | null, signal: AbortSignal) => Promise<void>;
};

export type OtelExport = {
  /** Loads the libraries, which takes a while, and begins to export; installs them first when they are missing. */
  start(): void;
  /** After a commit; hands over and returns at once. Never throws. */
  stored(events: readonly StoredEvent[]): void;
  view(): OtelView;
  /** One line for /health; null when all is well. */
  fault(): string | null;
  /** Installs the libraries when they are missing, and begins to export. Rejects with the reason. */
  install(): Promise<void>;
  /** Sends what waits; for tests. */
  flush(): Promise<void>;
  /** Sends what waits and what is known of turns that run, for three seconds at most, and ends an installation. */
  close(): Promise<void>;
};

const retryMs = 10 * 60_000;
/** How long the end waits for what is sent last. */
const closeMs = 3000;

/** Traces of turns and the metrics, to where the standard variables say. Off, it costs nothing. */
export function createOtelExport(deps: Deps): OtelExport {
  const { settings, log, clock, mask, load = loadOtelPackages, install = installOtelPackages } = deps;
  const { tracesUrl, metricsUrl, metricsEveryMs } = settings.otel;
  const isWanted = tracesUrl !== null || metricsUrl !== null;
  const counts = { exported: 0, failed: 0, dropped: 0, waiting: 0 };
  const faults = new Map<OtlpResult['what'], string>();
  let state: OtelState = isWanted ? 'missing' : 'off';
  let installError: string | null = null;
  let otlp: Otlp | null = null;
  let installing: Promise<void> | null = null;
  const stop = new AbortController();
  let cancelRetry = () => {};

  const onResult = ({ what, count, error }: OtlpResult) => {
    if (error === null) {
      if (faults.delete(what)) log.info({ what }, 'OpenTelemetry export works again');
    } else {
      if (!faults.has(what)) log.warn({ what, err: errorText(error) }, 'OpenTelemetry export fails; it is tried again');
      faults.set(what, errorText(error));
    }
    if (what !== 'traces') return;
    counts.waiting = Math.max(0, counts.waiting - count);
    counts[error === null ? 'exported' : 'failed'] += count;
  };
  const send = (plans: readonly SpanPlan[]) => {
    if (otlp === null) return;
    if (counts.waiting + plans.length > maxQueue) {
      counts.dropped += plans.length;
      return;
    }
    counts.waiting += plans.length;
    otlp.send(mask.write(plans).value);
  };
  const deliveries = createTurnDeliveries();
  const turns = gatherTurns(clock, (record) => send(toSpans(record, settings.assistantName)));

  const open = (packages: OtelPackages) => {
    const version = deps.version;
    otlp = openOtlp(packages, { tracesUrl, metricsUrl, metricsEveryMs, version, onResult, readMetrics: () => readMetrics(deps) });
    state = 'on';
    installError = null;
    log.info({ traces: tracesUrl !== null, metrics: metricsUrl !== null }, 'OpenTelemetry export is on');
  };
  const folder = path.join(settings.dataDir, 'otel');
  const installOnce = async () => {
    cancelRetry();
    state = 'installing';
    try {
      const found = load(packageFolders(settings.dataDir));
      if (found === null) {
        log.info({ folder }, 'the OpenTelemetry libraries are being installed');
        await install(folder, settings.engineRegistry, stop.signal);
      }
      const packages = found ?? load(packageFolders(settings.dataDir));
      if (packages === null) throw new Error('the libraries are not there after they were installed');
      if (!stop.signal.aborted) open(packages);
    } catch (error) {
      state = 'missing';
      installError = errorText(error);
      if (stop.signal.aborted) return;
      log.warn({ err: installError }, 'the OpenTelemetry libraries could not be installed; it is tried again');
      cancelRetry = clock.after(retryMs, () => void begin().catch(() => undefined)); // told above
      throw error;
    }
  };
  const begin = (): Promise<void> => {
    if (!isWanted || state === 'on' || stop.signal.aborted) return Promise.resolve();
    return (installing ??= installOnce().finally(() => (installing = null)));
  };

  return {
    start: () => void begin().catch(() => undefined), // told above
    stored(events) {
      if (otlp === null || tracesUrl === null) return;
      try {
        for (const event of events) {
          turns.add(event);
          const span = deliveries.add(event);
          if (span !== null) send([span]);
        }
      } catch (error) {
        faults.set('traces', errorText(error));
      }
    },
    view: () => ({ state, error: installError ?? [...faults.values()][0] ?? null, ...counts }),
    fault() {
      if (state === 'missing')
        return `OpenTelemetry is not exported, its libraries are missing. Run: ./svc otel install${installError === null ? '' : ` (${installError})`}`;
      const [what, error] = [...faults][0] ?? [];
      return what === undefined ? null : `OpenTelemetry ${what} cannot be sent: ${error}`;
    },
    install: begin,
    async flush() {
      turns.flush();
      await otlp?.flush();
    },
    async close() {
      stop.abort();
      cancelRetry();
      // What runs is told as far as it is known: nobody will be there for its end.
      turns.flush();
      turns.close();
      const closing = Promise.allSettled([otlp?.close(), installing]);
      otlp = null;
      const late = Promise.withResolvers<void>();
      const cancelLate = clock.after(closeMs, late.resolve);
      await Promise.race([closing, late.promise]);
      cancelLate();
    },
  };
}
