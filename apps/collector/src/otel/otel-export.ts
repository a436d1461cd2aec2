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
    start: () => void libraries.open().catch(() => undefined), // in the log, and in /health
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
      // What still runs goes out as far as it is known: this process will not see its end.
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
    return `OpenTelemetry is not exported, its libraries are missing. Run: ./svc otel install${why === null ? '' : ` (${why})`}`;
  }
  const [what, error] = results.fault() ?? [];
  return what === undefined ? null : `OpenTelemetry ${what} cannot be sent: ${error}`;
}

/** What became of what was sent. */
type Results = {
  readonly counts: { exported: number; failed: number; dropped: number; waiting: number };
  /** Whether so many spans more may wait; counts them, as waiting or as dropped. */
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
        if (!faults.has(what)) log.warn({ what, err: errorText(error) }, 'OpenTelemetry export fails; it is tried again');
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

/** The libraries of OpenTelemetry: found or installed when they are wanted. */
type Libraries = {
  state(): OtelState;
  /** Why they could not be installed; null while they were not tried or are there. */
  error(): string | null;
  /** Opens them, once. Rejects with the reason when that fails; it is tried again by itself. */
  open(): Promise<void>;
  /** Ends an installation. */
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
    if (installed === null) throw new Error('the libraries are not there after they were installed');
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
      log.warn({ err: fault }, 'the OpenTelemetry libraries could not be installed; it is tried again');
      cancelRetry = clock.after(retryMs, () => void open().catch(() => undefined)); // in the log, and in /health
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
