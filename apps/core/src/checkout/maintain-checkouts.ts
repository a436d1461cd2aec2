import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Checkouts } from './checkouts.ts';

const hourMs = 60 * 60_000;

type Deps = { checkouts: Pick<Checkouts, 'sweep'>; clock: Pick<Clock, 'every'>; log: Pick<Log, 'error'> };

/** Removes unused checkouts now and every hour. The returned function stops it. */
export function maintainCheckouts({ checkouts, clock, log }: Deps): () => void {
  const sweep = () =>
    void checkouts.sweep().catch((error: unknown) => log.error({ err: error }, 'unused checkouts could not be removed'));
  sweep();
  return clock.every(hourMs, sweep);
}
