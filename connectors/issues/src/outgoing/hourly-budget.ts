import { errorText, type ConnectorState, type StartContext } from '@svc/connector-kit';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const hourMs = 3600_000;
const key = 'posted';

type BudgetDeps = Pick<StartContext, 'log'> & { clock: Clock; state: Pick<ConnectorState, 'get' | 'set'> };

/**
 * Counts the comments of an account to stay below GitHub's limit. The times are stored before a comment is posted, so that the
 * count survives restarts; an error of the storage is logged and delays no comment. The returned function rejects with `busy`
 * past the limit; without a limit nothing is counted.
 */
export function createHourlyBudget(most: number, deps: BudgetDeps): () => Promise<void> {
  const { clock, state, log } = deps;
  /** By `clock.elapsed`, which nobody sets. */
  let times: Promise<number[]> | null = null;

  const note = (error: unknown) =>
    log('error', 'the number of posted comments could not be saved: after a restart, more may be posted than GitHub accepts', {
      error: errorText(error),
    });

  async function load(): Promise<number[]> {
    const kept = await state.get<number[]>(key).catch(note);
    const now = clock.now();
    return (Array.isArray(kept) ? kept : [])
      .filter((at) => typeof at === 'number' && isWithin(at, hourMs, now))
      .map((at) => clock.elapsed() - Math.max(0, now - at));
  }

  return async () => {
    if (most === Infinity) return;
    const posted = await (times ??= load());
    const now = clock.elapsed();
    while ((posted[0] ?? now) <= now - hourMs) posted.shift();
    if (posted.length >= most) throw tooMany(most, (posted[0] ?? now) + hourMs - now);
    posted.push(now);
    const wall = clock.now() - now;
    const kept = posted.map((at) => at + wall);
    await state.set(key, kept).catch(note);
  };
}

const tooMany = (most: number, leftMs: number) =>
  new ServiceError('busy', `${most} comments were posted within an hour, the most that GitHub accepts.`, {
    details: { retry_after_s: Math.ceil(leftMs / 1000), global: true, keeps_pace: true },
  });
