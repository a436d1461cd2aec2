import type { Log } from '@svc/service-kit/log.ts';
import { queueFull, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import { parseEvent, type EventDefaults, type StoredEvent } from './parse-event.ts';

/** `ingested` counts the accepted events, including those stored before. */
export type IngestAnswer = { ingested: number; rejected: Rejection[] };
export type Rejection = { index: number; error: string };

type Job = IngestAnswer & {
  items: readonly unknown[];
  next: number;
  resolve: (answer: IngestAnswer) => void;
  reject: (error: unknown) => void;
};

type Deps = {
  /** Stores events in one transaction, synchronously; throws if none of them is stored. */
  write: (events: StoredEvent[]) => void;
  /** A promise that the next commit has to wait for, or null. Never rejects. */
  pause: () => Promise<void> | null;
  defaults: () => EventDefaults;
  log: Pick<Log, 'error'>;
};

/** Limits of one commit, so that it blocks the event loop for only a few milliseconds. */
const maxEvents = 400;
const maxLength = 512 * 1024;
/** The least number of events of each request in a commit, so that a large body does not delay small ones behind it. */
const minShare = 20;
const maxWaiting = 500_000;

/**
 * Requests that arrive together share commits. A request is answered when all its events are stored, so nothing is
 * acknowledged before; a failed request may be sent again as a whole.
 */
export class CommitQueue {
  readonly #deps: Deps;
  #jobs: Job[] = [];
  #isScheduled = false;
  waiting = 0;
  ingested = 0;
  rejected = 0;
  lastError: string | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Resolves when all valid events are stored. Rejects with 413 for a body above the limit, 429 when too many events are
   * waiting, 503 when storing fails.
   */
  submit(items: readonly unknown[]): Promise<IngestAnswer> {
    if (items.length === 0) return Promise.resolve({ ingested: 0, rejected: [] });
    if (items.length > maxWaiting) {
      return Promise.reject(new ServiceError('too_large', `Send at most ${maxWaiting} events at once.`));
    }
    if (this.waiting + items.length > maxWaiting) {
      return Promise.reject(queueFull('Too many events are waiting to be stored. Send these again later.'));
    }
    this.waiting += items.length;
    return new Promise((resolve, reject) => {
      this.#jobs.push({ items, next: 0, ingested: 0, rejected: [], resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#jobs.length === 0) return;
    this.#isScheduled = true;
    const step = () => {
      this.#isScheduled = false;
      this.#commit();
      this.#schedule();
    };
    const pause = this.#deps.pause();
    if (pause === null) setImmediate(step);
    else void pause.then(step);
  }

  #commit(): void {
    const jobs = this.#jobs;
    const { events, touched } = this.#take(jobs);
    try {
      if (events.length > 0) this.#deps.write(events);
      this.lastError = null;
    } catch (error) {
      this.#fail(touched, error as Error);
      return;
    }
    this.ingested += events.length;
    for (const job of touched) if (job.next === job.items.length) job.resolve({ ingested: job.ingested, rejected: job.rejected });
    this.#jobs = jobs.filter((job) => job.next < job.items.length);
  }

  /** The next events of the waiting requests, oldest request first, a share of each. */
  #take(jobs: Job[]): { events: StoredEvent[]; touched: Job[] } {
    const events: StoredEvent[] = [];
    const touched: Job[] = [];
    const share = Math.max(minShare, Math.ceil(maxEvents / jobs.length));
    const defaults = this.#deps.defaults();
    let seen = 0;
    let length = 0;
    for (const job of jobs) {
      if (seen >= maxEvents || length >= maxLength) break;
      touched.push(job);
      for (const end = Math.min(job.next + share, job.items.length); job.next < end && length < maxLength; seen++) {
        const event = this.#parse(job, defaults);
        if (event === null) continue;
        events.push(event);
        length += event.payloadText.length + (event.text?.length ?? 0);
      }
    }
    this.waiting -= seen;
    return { events, touched };
  }

  #parse(job: Job, defaults: EventDefaults): StoredEvent | null {
    const index = job.next++;
    const parsed = parseEvent(job.items[index], defaults);
    if ('event' in parsed) {
      job.ingested++;
      return parsed.event;
    }
    this.rejected++;
    job.rejected.push({ index, error: parsed.error });
    return null;
  }

  #fail(touched: Job[], error: Error): void {
    this.#deps.log.error({ err: error }, 'events could not be stored');
    this.lastError = error.message;
    for (const job of touched) {
      this.waiting -= job.items.length - job.next;
      job.reject(unavailable('The events could not be stored. Send them again later.', error));
    }
    this.#jobs = this.#jobs.filter((job) => !touched.includes(job));
  }
}
