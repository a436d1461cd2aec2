import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Job, Stage } from './chat-lines.ts';
import { toFault } from './passing-faults.ts';
import { mergeUpdates } from './merge-updates.ts';

/** An update of the platform that is not yet acknowledged. */
export type Update = {
  chat: string;
  id: string;
  /** Resolves when the update is handled, or safe in the core. Rejects when it must be delivered again. */
  safe: PromiseWithResolvers<void>;
};

/** An update that is a message. */
export type MessageUpdate = Update & {
  /** Null when there is nothing to answer. */
  prepare(signal: AbortSignal): Promise<Envelope | null>;
};

/** The messages of one update, or of several that belong together. */
export type MessageJob = Job & {
  /** False when it accepts no more: the update becomes a job of its own. */
  join?(gather: string, update: MessageUpdate): boolean;
};

type Deps = {
  clock: Clock;
  /** Makes the envelope of an update; null for none. Rejects when the update must be delivered again. */
  prepare(update: MessageUpdate): Promise<Envelope | null>;
  /** Resolves when the core has accepted the message or refused it for good. */
  handOver(updates: readonly string[], envelope: Envelope): Promise<void>;
  gatherMs: number;
  /** Resolves when everything that the platform had at this time has been received. */
  heard(asOf: number): Promise<void>;
};

const maxGathered = 32;
/** The total wait for updates that belong together is at most this many times `gatherMs`. */
const longestStretch = 5;

export function createMessageJob(
  { clock, prepare, handOver, gatherMs, heard }: Deps,
  first: MessageUpdate,
  gather?: string,
): MessageJob {
  const updates = [first];
  const closesBy = clock.elapsed() + gatherMs * longestStretch;
  let quietFrom = clock.elapsed() + gatherMs;
  let isOpen = gather !== undefined;
  let stage: Stage = 'waiting';
  let wake = (): void => undefined;

  const close = (): void => {
    isOpen = false;
    wake();
  };

  /**
   * Resolves when another update has joined, or when no more can: the quiet time has passed, and everything from that time has been
   * received.
   */
  const more = (): Promise<void> =>
    new Promise((resolve) => {
      const end = Math.min(quietFrom, closesBy);
      const closeAtEnd = () => void heard(end).then(() => (wake === woken ? close() : undefined));
      const cancel = clock.after(Math.max(0, end - clock.elapsed()), closeAtEnd);
      const woken = () => {
        cancel();
        resolve();
      };
      wake = woken;
    });

  async function prepareAll(): Promise<{ id: string; envelope: Envelope }[]> {
    const prepared: { id: string; envelope: Envelope }[] = [];
    for (let at = 0; at < updates.length || isOpen;) {
      const update = updates[at];
      if (update === undefined) {
        await more();
        continue;
      }
      const envelope = await prepare(update);
      if (envelope !== null) prepared.push({ id: update.id, envelope });
      at++;
    }
    return prepared;
  }

  const reject = (error: ServiceError): void => {
    isOpen = false;
    for (const { safe } of updates) safe.reject(error);
  };

  return {
    stage: () => stage,
    join(name, update) {
      if (!isOpen || name !== gather) return false;
      updates.push(update);
      quietFrom = clock.elapsed() + gatherMs;
      if (updates.length >= maxGathered) isOpen = false;
      wake();
      return true;
    },
    onFollowed: close,
    drop: reject,
    async run() {
      stage = 'preparing';
      try {
        const prepared = await prepareAll();
        isOpen = false;
        stage = 'asking';
        for (const { ids, envelope } of mergeUpdates(prepared)) await handOver(ids, envelope);
        for (const { safe } of updates) safe.resolve();
      } catch (error) {
        reject(toFault(error));
        throw error;
      }
    },
  };
}
