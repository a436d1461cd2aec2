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

/** How a producer's telemetry stands; part of its `/health`. */
type TelemetryStatus = { unsent: number; dropped: number; collector: 'ok' | 'away'; lastError: string | null };

/**
 * A producer's side of telemetry: what is emitted is on disk before the current turn of the event loop ends and reaches
 * the collector when it can. Emitting never throws and never waits.
 */
export type Telemetry = {
  emit(event: PartialEvent): TelemetryEvent;
  /** The same of an event with a long text, which is masked in slices: it is on disk once this resolves. Never rejects. */
  emitLong(event: PartialEvent): Promise<void>;
  /** Live view of what is emitted here. `line` is the event as JSON, which is made anyway. */
  subscribe(listener: (event: TelemetryEvent, line: MaskedJson) => void): () => void;
  status(): TelemetryStatus;
  /** Why events are lost now, for a person; null while they are kept. */
  fault(): string | null;
  /** What the operator should know of events that are lost or late, for /health. */
  notices(): string[];
  /** Tries to hand over everything, bounded by `timeoutMs`, then stops. What is left is sent after the next start. */
  close(timeoutMs: number): Promise<void>;
};

export type TelemetryOptions = {
  /** Folder of the spool; several producers may share it. */
  dir: string;
  /** Names the files, so it is unique among running processes: letters, digits, `_`, `.` and `-`. */
  producer: string;
  collectorUrl: string;
  token: Secret | null;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** What every event passes before it is written. */
  mask: OutboundMask;
  /** Fields of every event that does not set them itself. */
  defaults?: Partial<TelemetryEvent>;
};

/** A collector that restarts is no news. And so long after a loss it is looked whether it would happen again. */
const patienceMs = 60_000;

const lostWords = (count: number): string => `${counted(count, 'event')} ${count === 1 ? 'was' : 'were'} lost`;

/** Opens a producer's telemetry; what an earlier process left unsent goes first. Throws when `dir` cannot be used. */
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
  // Said only when something just got through: where nothing does, each report would be one more loss.
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
      return spool.fault === null ? null : `Events are lost, and with them what turns use: ${spool.fault}`;
    },
    notices: () => [
      ...(dropped === 0 ? [] : [`Since the start ${lostWords(dropped)}, so sums of use and cost are too low: ${reason}.`]),
      ...(shipper.awayMs < patienceMs ? [] : [`The collector takes no events (${spool.unsent} wait): ${shipper.lastError}.`]),
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
