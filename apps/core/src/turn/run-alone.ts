import type { Clock } from '@svc/service-kit/clock.ts';

/** A turn that waits to be run alone. */
export type Suspect = { start(): void; ended: Promise<unknown> };

/** Other turns wait no longer than this for all suspects together: what ends a service mostly does so soon. */
const maxHoldMs = 30_000;

/**
 * Runs turns of which one may have ended the service: one after the other, and for a while nothing beside them, so that a
 * service which ends again has run the one that ends it, and the others get their answer.
 */
export async function runAlone(
  suspects: readonly Suspect[],
  letOthersRun: () => void,
  { clock }: { clock: Pick<Clock, 'after'> },
): Promise<void> {
  const cancel = clock.after(maxHoldMs, letOthersRun);
  for (const { start, ended } of suspects) {
    start();
    await ended.catch(() => undefined); // its own caller hears of it
  }
  cancel();
  letOthersRun();
}
