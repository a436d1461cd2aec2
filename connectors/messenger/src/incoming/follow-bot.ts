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

/** So long after its own wait a poll that has no answer is given up, ms. */
const patienceMs = 10_000;
/** After a week without updates Telegram begins with another number, which may be lower; what was confirmed stays confirmed. */
const forgetOffsetMs = 3 * 24 * 60 * 60_000;

/** Polls for what people write to the bot, until `signal` aborts. Never rejects. */
export function followBot({ api, take, caughtUp, onProblem, signal, log, clock = systemClock }: Options): Promise<void> {
  let hasWebhook = true; // one that was set elsewhere keeps all updates
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
    // Their numbers are their order, whatever came in between.
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

/** One without a number cannot be passed, and nothing can be done with it. */
const named = (update: unknown): Named[] => {
  const id = updateIdOf(update);
  return id === null ? [] : [{ id, update }];
};
