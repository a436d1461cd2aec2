import { backOffMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { errorText } from '../service-error.ts';
import type { SendEvents } from './send-events.ts';
import { toJsonArray, type Spool, type SpoolBatch } from './spool.ts';

type Deps = {
  spool: Spool;
  send: SendEvents;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
  /** Called for events that are lost. */
  onLoss: (events: number, why: string) => void;
  /** Called after each batch that was accepted completely. */
  onDelivered: () => void;
};

/** The collector stores this many in one commit. */
const maxBatch = 400;
const gatherMs = 100;
/** The pause between the batches of a backlog, which keeps the process responsive. */
const backlogMs = 10;
/** While the collector is unreachable. */
const backOff = { firstMs: 2 * gatherMs, maxMs: 5000 };

/** Sends the spool to the collector: one request at a time, with a timer only while there is something to send. */
export class Shipper {
  readonly #deps: Deps;
  #cancelTimer: (() => void) | null = null;
  #sending: Promise<boolean> | null = null;
  #request: AbortController | null = null;
  #closing: Promise<void> | null = null;
  #failures = 0;
  #batchSize = maxBatch;
  lastError: string | null = null;
  #awaySince = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#failures > 0;
  }

  /** How long the collector has been unreachable, ms; 0 while it is reachable. */
  get awayMs(): number {
    return this.isAway ? this.#deps.clock.elapsed() - this.#awaySince : 0;
  }

  /** Reports that there is something to send. Repeated calls cost nothing. */
  wake(): void {
    if (this.#cancelTimer === null && this.#sending === null) this.#schedule(gatherMs);
  }

  /** Sends the spool without pauses until it is empty, sending fails or `timeoutMs` is over; then stops. */
  close(timeoutMs: number): Promise<void> {
    return (this.#closing ??= this.#drain(timeoutMs));
  }

  async #drain(timeoutMs: number): Promise<void> {
    this.#cancelTimer?.();
    let isOver = false;
    const cancelDeadline = this.#deps.clock.after(timeoutMs, () => {
      isOver = true;
      this.#request?.abort(new Error('stopped before the collector answered'));
    });
    let goesOn = (await this.#sending) ?? true;
    while (goesOn && !isOver) goesOn = await this.#sendBatch();
    cancelDeadline();
  }

  #schedule(ms: number): void {
    if (this.#closing !== null) return;
    this.#cancelTimer = this.#deps.clock.after(ms, () => {
      this.#cancelTimer = null;
      void this.#sendNext();
    });
  }

  async #sendNext(): Promise<void> {
    this.#sending = this.#sendBatch();
    await this.#sending;
    this.#sending = null;
    const { unsent } = this.#deps.spool;
    if (this.isAway) this.#schedule(backOffMs(backOff, this.#failures));
    else if (unsent > 0) this.#schedule(unsent >= maxBatch ? backlogMs : gatherMs);
  }

  /** Sends one batch. Returns whether to send the next one at once; never rejects. */
  async #sendBatch(): Promise<boolean> {
    try {
      const batch = this.#deps.spool.read(this.#batchSize);
      if (batch === null) return false;
      // Lines of this process are complete; a file of an earlier one may contain a torn line.
      const { json, count } = batch.segment.isOwn ? { json: toJsonArray(batch), count: batch.count } : withoutDamage(batch);
      this.#request = new AbortController();
      const result = await this.#deps.send(json, this.#request.signal);
      this.#reachable();
      if (!result.taken) return this.#refused(batch, result.error);
      this.#deps.spool.acknowledge(batch);
      this.#batchSize = maxBatch;
      this.#account(batch.count - count, result.rejected);
      return true;
    } catch (error) {
      this.#away(errorText(error));
      return false;
    }
  }

  /** Losses are only reported after a completely accepted batch, or a report that is itself rejected would repeat for ever. */
  #account(damaged: number, rejected: { error: string }[]): void {
    if (damaged > 0) this.#deps.onLoss(damaged, 'damaged in the spool');
    if (rejected.length > 0) this.#deps.onLoss(rejected.length, `the collector rejected them: ${rejected[0]?.error}`);
    else this.#deps.onDelivered();
  }

  /** The whole batch was refused: halve it until only the event at fault is left, then drop that one. */
  #refused(batch: SpoolBatch, error: string): boolean {
    if (batch.count > 1) {
      this.#batchSize = Math.ceil(batch.count / 2);
      return true;
    }
    this.#deps.spool.acknowledge(batch);
    this.#deps.onLoss(1, error);
    return true;
  }

  #reachable(): void {
    if (this.isAway) this.#deps.log.info('the collector is back');
    this.#failures = 0;
    this.lastError = null;
  }

  #away(error: string): void {
    if (!this.isAway) {
      this.#deps.log.warn({ error }, 'the collector is unreachable; events are kept and sent later');
      this.#awaySince = this.#deps.clock.elapsed();
    }
    this.#failures++;
    this.lastError = error;
  }
}

function withoutDamage({ bytes }: SpoolBatch): { json: Buffer; count: number } {
  const whole = bytes.toString('utf8').split('\n').filter(isJson);
  return { json: Buffer.from(`[${whole.join(',')}]`), count: whole.length };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false; // counted by the caller
  }
}
