import type { CoreContext } from '../context.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
/** What became of deliveries is kept this long. */
const deliveryDays = 30;

type Deps = Pick<CoreContext, 'settings' | 'clock' | 'log' | 'journal' | 'outbox'>;

/** Removes what is older than the operator keeps, every hour and in small steps. The returned function ends it. */
export function keepJournalSmall(deps: Deps): () => void {
  return deps.clock.every(hourMs, () => {
    prune(deps).catch((error: unknown) => deps.log.error({ err: error }, 'old turns could not be removed'));
  });
}

async function prune({ settings, clock, journal, outbox }: Deps): Promise<void> {
  const before = (days: number) => clock.now() - days * dayMs;
  while ((await outbox.prune(before(deliveryDays))) > 0);
  if (settings.historyDays === 0) return;
  while ((await journal.prune(before(settings.historyDays))) > 0);
}
