import type { PartialEvent, TelemetryEvent } from '@svc/contract/event.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import type { OutboundMask, MaskedJson } from '../redaction/outbound-mask.ts';
import { createHub } from '../hub.ts';
import { errorText } from '../service-error.ts';
import { counted } from '../words.ts';
import { sendTo } from './send-events.ts';
import { Shipper } from './shipper.ts';
import { Spool } from './spool.ts';
import { serializeEvent, serializeInSlices, toEvent, type SerializedEvent } from './to-event.ts';

/** The state of a producer's telemetry, as part of its `/health`. */
type TelemetryStatus = { unsent: number; dropped: number; collector: 'ok' | 'away'; lastError: string | null };

/**
 * The producer's side of telemetry: an emitted event is on disk before the current turn of the event loop ends, and is sent to
 * the collector when possible. Emitting never throws and never waits.
 */
export type Telemetry = {
  emit(event: PartialEvent): TelemetryEvent;
  /** The same for an event with a long text, which is masked in slices: it is on disk once this resolves. Never rejects. */
  emitLong(event: PartialEvent): Promise<void>;
  /** A live view of the emitted events. `line` is the event as JSON, which exists anyway. */
  subscribe(listener: (event: TelemetryEvent, line: MaskedJson) => void): () => void;
  status(): TelemetryStatus;
  /** Why events are being lost now, for a person; null while they are kept. */
  fault(): string | null;
  /** What the operator should know about lost or delayed events, for /health. */
  notices(): string[];
  /** Tries to send everything for at most `timeoutMs`, then stops. The rest is sent after the next start. */
  close(timeoutMs: number): Promise<void>;
};

export type TelemetryOptions = {
  /** The folder of the spool, which several producers may share. */
  dir: string;
  /** Prefix of the file names, unique among running processes: letters, digits, `_`, `.` and `-`. */
  producer: string;
  collectorUrl: string;
  token: Secret | null;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Masks every event before it is written. */
  mask: OutboundMask;
  /** Defaults for fields that an event does not set. */
  defaults?: Partial<TelemetryEvent>;
};

/** A collector that restarts is not reported. It is also the time after a loss until the disk is checked again. */
const patienceMs = 60_000;

const lostWords = (count: number): string => `${counted(count, 'event')} ${count === 1 ? 'was' : 'were'} lost`;

/** Opens a producer's telemetry. Events that an earlier process left unsent go first. Throws when `dir` is unusable. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { clock, ids, log, producer, defaults = {} } = options;
  const hub = createHub<SerializedEvent>((error) => log.error({ err: error }, 'a listener of events failed'));
  let dropped = 0;
  let unreported = 0;
  let reason = '';
  let lostAt = 0;
  const onLoss = (events: number, why: string) => {
    lostAt = clock.elapsed();
    dropped += events;
    unreported += events;
    reason = why;
    log.warn({ events, why }, 'telemetry events were dropped');
  };
  // Reported only after a successful delivery: otherwise each report would be one more loss.
  const reportLoss = () => {
    if (unreported === 0) return;
    const payload = { producer, count: unreported, reason };
    unreported = 0;
    telemetry.emit({ kind: 'dropped', payload });
  };
  const spool = new Spool(options.dir, producer, onLoss);
  const send = sendTo(options.collectorUrl, options.token, producer);
  const shipper = new Shipper({ spool, send, clock, log, onLoss, onDelivered: reportLoss });
  const flushAtExit = () => spool.flush();
  process.on('exit', flushAtExit);

  const complete = (partial: PartialEvent) => toEvent(partial, defaults, ids.next('evt'), clock.now());
  const keep = (serialized: SerializedEvent): TelemetryEvent => {
    spool.append(serialized.line);
    shipper.wake();
    hub.publish(serialized);
    return serialized.event;
  };
  /** Long events that are being masked. */
  const coming = new Set<Promise<void>>();

  const telemetry: Telemetry = {
    emit: (partial) => keep(serializeEvent(complete(partial), options.mask)),
    emitLong(partial) {
      const writing = serializeInSlices(complete(partial), options.mask)
        .then(keep, (error: unknown) => onLoss(1, errorText(error)))
        .then(() => void coming.delete(writing));
      coming.add(writing);
      return writing;
    },
    subscribe: (listener) => hub.subscribe(({ event, line }) => listener(event, line)),
    status: () => ({
      unsent: spool.unsent,
      dropped,
      collector: shipper.isAway ? 'away' : 'ok',
      lastError: shipper.lastError,
    }),
    fault() {
      if (spool.fault !== null && clock.elapsed() - lostAt >= patienceMs) spool.lookAgain();
      return spool.fault === null ? null : `Events are being lost, and with them the usage of turns: ${spool.fault}`;
    },
    notices: () => [
      ...(dropped === 0 ? [] : [`Since the start ${lostWords(dropped)}, so totals of usage and cost are too low: ${reason}.`]),
      ...(shipper.awayMs < patienceMs
        ? []
        : [`The collector accepts no events (${spool.unsent} waiting): ${shipper.lastError}.`]),
    ],
    async close(timeoutMs) {
      await Promise.all(coming);
      await shipper.close(timeoutMs);
      spool.close();
      process.off('exit', flushAtExit);
    },
  };
  if (spool.unsent > 0) shipper.wake();
  return telemetry;
}
