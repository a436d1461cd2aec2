import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, queueFull } from '@svc/service-kit/service-error.ts';

type Bounds = {
  /** How many may run at once. */
  slots: number;
  /** How many may wait. */
  maxWaiting: number;
  /** The longest wait, ms. */
  waitMs: number;
  /** What is limited, for error messages. */
  what: string;
};

type Waiting = { give: () => void };

/** Limits how many run at once, how many wait, and for how long. */
export type Slots = {
  /** Returns a function that frees the slot; further calls of it do nothing. @throws ServiceError `queue_full`. */
  take(signal: AbortSignal): Promise<() => void>;
};

export function createSlots({ slots, maxWaiting, waitMs, what }: Bounds, clock: Pick<Clock, 'after'>): Slots {
  let taken = 0;
  const line = new Set<Waiting>();

  const free = () => {
    const next = line.values().next().value;
    if (next === undefined) {
      taken--;
      return;
    }
    line.delete(next);
    next.give();
  };
  const once = () => {
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      free();
    };
  };

  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = (error: Error) => {
        if (!line.delete(waiting)) return;
        end();
        reject(error);
      };
      const gone = () => leave(badRequest('The caller left.'));
      const cancel = clock.after(waitMs, () => leave(tooMany(what)));
      const end = () => {
        cancel();
        signal.removeEventListener('abort', gone);
      };
      const waiting = {
        give() {
          end();
          resolve();
        },
      };
      line.add(waiting);
      signal.addEventListener('abort', gone, { once: true });
    });

  return {
    async take(signal: AbortSignal): Promise<() => void> {
      if (signal.aborted) throw badRequest('The caller left.');
      if (taken >= slots) {
        if (line.size >= maxWaiting) throw tooMany(what);
        await wait(signal); // the slot is handed over, so it stays taken
      } else {
        taken++;
      }
      return once();
    },
  };
}

const tooMany = (what: string) => queueFull(`Too many ${what} at once. Try again in a moment.`, 5);
