import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { ChatLines, Job } from './chat-lines.ts';
import type { Update } from './message-job.ts';

/** An update between its first coming and the moment when it is safe. */
export type OnTheWay<J extends Job> = { update: Update; job: J };

/** Updates that are not safe yet: one that is given again waits for the same end. */
export type UpdatesOnTheWay<J extends Job> = {
  find(chat: string, id: string): OnTheWay<J> | undefined;
  add(entry: OnTheWay<J>): void;
  /** Resolves when the update is safe. Rejects when it is to be given again, or has waited too long; what has not begun is dropped then. */
  wait(entry: OnTheWay<J>): Promise<void>;
};

export function createUpdatesOnTheWay<J extends Job>(
  clock: Pick<Clock, 'after'>,
  lines: Pick<ChatLines<J>, 'dropFrom'>,
  withinMs: number,
): UpdatesOnTheWay<J> {
  const entries = new Map<string, OnTheWay<J>>();
  return {
    find: (chat, id) => entries.get(compositeKey(chat, id)),
    add(entry) {
      const { chat, id, safe } = entry.update;
      const name = compositeKey(chat, id);
      entries.set(name, entry);
      const leave = () => void entries.delete(name);
      safe.promise.then(leave, leave);
    },
    wait({ update, job }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let cancel = (): void => undefined;
      const arm = (): void => {
        cancel = clock.after(withinMs, () => {
          if (job.stage() === 'preparing') return arm();
          if (job.stage() === 'waiting') lines.dropFrom(update.chat, job, notYet());
          reject(notYet());
        });
      };
      arm();
      update.safe.promise.then(resolve, reject).finally(() => cancel());
      return promise;
    },
  };
}

const notYet = () => unavailable('The core has not taken this update yet. Give it again, and what came after it in its chat.');
