import { followUpdates } from '@svc/connector-kit/ingress/follow-updates.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { ServiceError, upstream } from '@svc/service-kit/service-error.ts';
import type { TelegramApi } from '../telegram-api.ts';
import { allowedUpdates, updateIdOf } from './read-update.ts';

type Options = Pick<StartContext, 'signal' | 'log'> & {
  api: Pick<TelegramApi, 'ask'>;
  take(update: unknown): Promise<void>;
  caughtUp(asOf: number): void;
  onProblem(problem: string | null): void;
  clock?: Clock;
};
type Named = { id: number; update: unknown };

/** A poll is aborted this long after its own timeout, ms. */
const patienceMs = 10_000;
/** After a week without updates, Telegram continues with another number, which may be lower; confirmed updates stay confirmed. */
const forgetOffsetMs = 3 * 24 * 60 * 60_000;

/** Polls for messages to the bot until `signal` aborts. Never rejects. */
export function followBot({ api, take, caughtUp, onProblem, signal, log, clock = systemClock }: Options): Promise<void> {
  let hasWebhook = true; // a webhook that was set elsewhere receives all updates
  let lastUpdateAt = clock.elapsed();

  async function poll(after: number | string | null, waitMs: number, stopped: AbortSignal): Promise<Named[]> {
    if (hasWebhook) await api.ask('deleteWebhook', {}, stopped);
    hasWebhook = false;
    const isOffsetKnown = after !== null && clock.elapsed() - lastUpdateAt < forgetOffsetMs;
    const updates: unknown = await api.ask(
      'getUpdates',
      {
        ...(isOffsetKnown && { offset: Number(after) + 1 }),
        timeout: Math.floor(waitMs / 1000),
        limit: 100,
        allowed_updates: allowedUpdates,
      },
      stopped,
      waitMs + patienceMs,
    );
    if (!Array.isArray(updates)) throw upstream('Telegram answered with something other than a list of updates.');
    if (updates.length > 0) lastUpdateAt = clock.elapsed();
    // The numbers define the order, whatever order they arrived in.
    return updates.flatMap(named).toSorted((one, other) => one.id - other.id);
  }

  return followUpdates<Named>({
    poll: async (...asked) => {
      try {
        return await poll(...asked);
      } catch (error) {
        hasWebhook ||= error instanceof ServiceError && error.code === 'conflict';
        throw error;
      }
    },
    cursorOf: ({ id }) => id,
    take: ({ update }) => take(update),
    caughtUp,
    onProblem,
    signal,
    log,
    clock,
  });
}

/** An update without a number cannot be confirmed or handled. */
const named = (update: unknown): Named[] => {
  const id = updateIdOf(update);
  return id === null ? [] : [{ id, update }];
};
