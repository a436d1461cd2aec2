import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { ChatLines, Job } from './chat-lines.ts';
import type { Update } from './message-job.ts';

/** An update between its first arrival and the moment when it is stored. */
export type OnTheWay<J extends Job> = { update: Update; job: J };

/** Updates that are not stored yet: a repeated update waits for the same result. */
export type UpdatesOnTheWay<J extends Job> = {
  find(chat: string, id: string): OnTheWay<J> | undefined;
  add(entry: OnTheWay<J>): void;
  /** Call it for every update. False while an earlier update of its chat must be sent again: this one would overtake it. */
  mayCome(chat: string, id: string): boolean;
  /** The update was not accepted and must be sent again. */
  refused(chat: string, id: string): void;
  /**
   * Resolves when the update is safe. Rejects when it must be delivered again or has waited too long; if its job has not begun, it is then
   * dropped.
   */
  wait(entry: OnTheWay<J>): Promise<void>;
};

/** How long a chat waits for an update that must be delivered again, ms; one that the platform has dropped must not block the chat. */
const longestGapMs = 60_000;
const maxGaps = 1000;

export function createUpdatesOnTheWay<J extends Job>(
  clock: Pick<Clock, 'after' | 'elapsed'>,
  lines: Pick<ChatLines<J>, 'dropFrom'>,
  withinMs: number,
): UpdatesOnTheWay<J> {
  const entries = new Map<string, OnTheWay<J>>();
  /** The first update of each chat that must be delivered again. */
  const gaps = new Map<string, { id: string; until: number }>();

  const noteGap = (chat: string, id: string): void => {
    if ((gaps.get(chat)?.until ?? 0) > clock.elapsed()) return;
    gaps.delete(chat);
    gaps.set(chat, { id, until: clock.elapsed() + longestGapMs });
    forgetOldest(gaps, maxGaps);
  };

  return {
    refused: noteGap,
    mayCome(chat, id) {
      const gap = gaps.get(chat);
      if (gap === undefined || (gap.id !== id && gap.until > clock.elapsed())) return gap === undefined;
      gaps.delete(chat);
      return true;
    },
    find: (chat, id) => entries.get(compositeKey(chat, id)),
    add(entry) {
      const { chat, id, safe } = entry.update;
      const name = compositeKey(chat, id);
      entries.set(name, entry);
      const leave = () => void entries.delete(name);
      safe.promise.then(leave, () => {
        leave();
        noteGap(chat, id);
      });
    },
    wait({ update, job }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let cancel = (): void => undefined;
      const arm = (): void => {
        cancel = clock.after(withinMs, () => {
          if (job.stage() === 'preparing') return arm();
          if (job.stage() === 'waiting') {
            // Noted synchronously: otherwise another update in the same tick would take its place.
            noteGap(update.chat, update.id);
            lines.dropFrom(update.chat, job, notYet());
          }
          reject(notYet());
        });
      };
      arm();
      update.safe.promise.then(resolve, reject).finally(() => cancel());
      return promise;
    },
  };
}

const notYet = () => unavailable('The core has not accepted this update yet. Send it again, with the later updates of its chat.');
