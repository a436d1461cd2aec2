import type { Envelope } from '@svc/contract/envelope.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Job, Stage } from './chat-lines.ts';
import { toFault } from './passing-faults.ts';
import { mergeUpdates } from './merge-updates.ts';

/** One update of the platform, until it may be acknowledged. */
export type Update = {
  chat: string;
  id: string;
  /** It is handled, or safe in the core. Rejects when it is to be given again. */
  safe: PromiseWithResolvers<void>;
};

/** One that is a message. */
export type MessageUpdate = Update & {
  /** Null for one that is nothing to answer. */
  prepare(signal: AbortSignal): Promise<Envelope | null>;
};

/** The messages of one update, or of those that belong together. */
export type MessageJob = Job & {
  /** False when it takes no more: the update is a job of its own. */
  join?(gather: string, update: MessageUpdate): boolean;
};

type Deps = {
  clock: Clock;
  /** Makes the envelope of an update; null for none. Rejects when the update is to be given again. */
  prepare(update: MessageUpdate): Promise<Envelope | null>;
  /** Resolves when the core has the message, or refused it for good. */
  handOver(updates: readonly string[], envelope: Envelope): Promise<void>;
  gatherMs: number;
  /** Resolves when what the platform had at this time has come. */
  heard(asOf: number): Promise<void>;
};

const maxGathered = 32;
/** Updates that belong together and keep coming are waited for this many times their usual time. */
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

  /** Resolves when there is one more, or there will be none: it was quiet for so long, and nothing of that time is still on its way. */
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
