import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CollectorSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { within } from '@svc/service-kit/within.ts';
import type { OtelState, OtelView } from '@svc/contract/insights.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';
import { readMetrics, type MetricSources } from '../metrics/read-metrics.ts';
import { gatherTurns, createTurnDeliveries } from './gather-turns.ts';
import { installOtelPackages, loadOtelPackages, packageFolders, type OtelPackages } from './otel-packages.ts';
import { maxQueue, openOtlp, type Otlp, type OtlpResult } from './open-otlp.ts';
import { toSpans, type SpanPlan } from './to-spans.ts';

type Deps = MetricSources & {
  settings: Pick<CollectorSettings, 'dataDir' | 'engineRegistry' | 'assistantName' | 'otel'>;
  version: string;
  log: Pick<Log, 'info' | 'warn'>;
  /** Masks every span before it is sent. */
  mask: OutboundMask;
  /** Replaced in tests. */
  load?: (folders: readonly string[]) => OtelPackages | null;
  install?: (folder: string, registry: string | null, signal: AbortSignal) => Promise<void>;
};

export type OtelExport = {
  /** Loads the libraries, which takes a while, and starts the export; installs them first if they are missing. */
  start(): void;
  /** Exports committed events. Returns at once and never throws. */
  stored(events: readonly StoredEvent[]): void;
  view(): OtelView;
  /** One line for /health; null without a fault. */
  fault(): string | null;
  /** Installs the libraries if they are missing, and starts the export. Rejects with the reason. */
  install(): Promise<void>;
  /** Sends everything that is waiting; for tests. */
  flush(): Promise<void>;
  /** Sends everything that is waiting, including unfinished turns, within three seconds, and stops an installation. */
  close(): Promise<void>;
};

const retryMs = 10 * 60_000;
/** How long `close` waits for the last data to be sent. */
const closeMs = 3000;

/** Exports traces of turns and metrics as the standard environment variables say. Costs nothing when off. */
export function createOtelExport(deps: Deps): OtelExport {
  const { settings, log, clock, mask } = deps;
  const { tracesUrl, metricsUrl, metricsEveryMs } = settings.otel;
  const results = createResults(log);
  let otlp: Otlp | null = null;

  const libraries = createLibraries(deps, (packages) => {
    const { version } = deps;
    const { onResult } = results;
    otlp = openOtlp(packages, { tracesUrl, metricsUrl, metricsEveryMs, version, onResult, readMetrics: () => readMetrics(deps) });
    log.info({ traces: tracesUrl !== null, metrics: metricsUrl !== null }, 'OpenTelemetry export is on');
  });
  const send = (plans: readonly SpanPlan[]) => {
    if (otlp !== null && results.hasRoom(plans.length)) otlp.send(mask.write(plans).value);
  };
  const deliveries = createTurnDeliveries();
  const turns = gatherTurns(clock, (record) => send(toSpans(record, settings.assistantName)));

  return {
    start: () => void libraries.open().catch(() => undefined), // logged, and shown by /health
    stored(events) {
      if (otlp === null || tracesUrl === null) return;
      try {
        for (const event of events) {
          turns.add(event);
          const span = deliveries.add(event);
          if (span !== null) send([span]);
        }
      } catch (error) {
        results.failed('traces', errorText(error));
      }
    },
    view: () => ({ state: libraries.state(), error: libraries.error() ?? results.fault()?.[1] ?? null, ...results.counts }),
    fault: () => faultOf(libraries, results),
    install: () => libraries.open(),
    async flush() {
      turns.flush();
      await otlp?.flush();
    },
    async close() {
      // Turns that still run are sent unfinished, because this process will not see their end.
      turns.flush();
      turns.close();
      const closing = Promise.allSettled([libraries.close(), otlp?.close()]);
      otlp = null;
      await within(closing, closeMs, clock);
    },
  };
}

function faultOf(libraries: Libraries, results: Results): string | null {
  if (libraries.state() === 'missing') {
    const why = libraries.error();
    return `OpenTelemetry is not exported because its libraries are missing. Run: ./svc otel install${why === null ? '' : ` (${why})`}`;
  }
  const [what, error] = results.fault() ?? [];
  return what === undefined ? null : `OpenTelemetry ${what} cannot be sent: ${error}`;
}

/** The results of sending. */
type Results = {
  readonly counts: { exported: number; failed: number; dropped: number; waiting: number };
  /** Whether this many more spans may wait. Counts them as waiting or as dropped. */
  hasRoom(spans: number): boolean;
  onResult(result: OtlpResult): void;
  failed(what: OtlpResult['what'], error: string): void;
  fault(): readonly [what: OtlpResult['what'], error: string] | undefined;
};

function createResults(log: Deps['log']): Results {
  const counts = { exported: 0, failed: 0, dropped: 0, waiting: 0 };
  const faults = new Map<OtlpResult['what'], string>();
  return {
    counts,
    hasRoom(spans) {
      const isRoom = counts.waiting + spans <= maxQueue;
      counts[isRoom ? 'waiting' : 'dropped'] += spans;
      return isRoom;
    },
    onResult({ what, count, error }) {
      if (error === null) {
        if (faults.delete(what)) log.info({ what }, 'OpenTelemetry export works again');
      } else {
        if (!faults.has(what)) log.warn({ what, err: errorText(error) }, 'OpenTelemetry export failed and will be retried');
        faults.set(what, errorText(error));
      }
      if (what !== 'traces') return;
      counts.waiting = Math.max(0, counts.waiting - count);
      counts[error === null ? 'exported' : 'failed'] += count;
    },
    failed: (what, error) => void faults.set(what, error),
    fault: () => [...faults][0],
  };
}

/** The libraries of OpenTelemetry: found or installed if the export is on. */
type Libraries = {
  state(): OtelState;
  /** Why they could not be installed; null if they are present or were not tried. */
  error(): string | null;
  /** Opens them once. Rejects with the reason on failure, which is retried automatically. */
  open(): Promise<void>;
  /** Stops an installation. */
  close(): Promise<void>;
};

function createLibraries(deps: Deps, onOpen: (packages: OtelPackages) => void): Libraries {
  const { settings, log, clock, load = loadOtelPackages, install = installOtelPackages } = deps;
  const isWanted = settings.otel.tracesUrl !== null || settings.otel.metricsUrl !== null;
  const folder = dataPaths(settings.dataDir).otel;
  const stop = new AbortController();
  let state: OtelState = isWanted ? 'missing' : 'off';
  let fault: string | null = null;
  let opening: Promise<void> | null = null;
  let cancelRetry = () => {};

  const find = async (): Promise<OtelPackages> => {
    const found = load(packageFolders(settings.dataDir));
    if (found !== null) return found;
    log.info({ folder }, 'the OpenTelemetry libraries are being installed');
    await install(folder, settings.engineRegistry, stop.signal);
    const installed = load(packageFolders(settings.dataDir));
    if (installed === null) throw new Error('the libraries are missing although they were installed');
    return installed;
  };
  const openOnce = async () => {
    cancelRetry();
    state = 'installing';
    try {
      const packages = await find();
      if (stop.signal.aborted) return;
      onOpen(packages);
      state = 'on';
      fault = null;
    } catch (error) {
      state = 'missing';
      fault = errorText(error);
      if (stop.signal.aborted) return;
      log.warn({ err: fault }, 'the OpenTelemetry libraries could not be installed; this will be retried');
      cancelRetry = clock.after(retryMs, () => void open().catch(() => undefined)); // logged, and shown by /health
      throw error;
    }
  };
  const open = (): Promise<void> => {
    if (!isWanted || state === 'on' || stop.signal.aborted) return Promise.resolve();
    return (opening ??= openOnce().finally(() => (opening = null)));
  };
  return {
    state: () => state,
    error: () => fault,
    open,
    async close() {
      stop.abort();
      cancelRetry();
      await opening;
    },
  };
}
