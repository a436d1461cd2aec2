import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { readJson } from '@svc/service-kit/restore/disk.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Version } from './journal.ts';
import type { Outcome } from './update-outcome.ts';

/** How the last update that came as far as a switch ended. `gapMs`: for how long the core answered nobody; null when nothing ran. */
export type LastUpdate = Outcome & { id: string; from: Version; to: Version; endedAt: number; gapMs: number | null };

export const readLastUpdate = ({ last }: Pick<UpdatePlaces, 'last'>): LastUpdate | null => readJson(last) as LastUpdate | null;

export const writeLastUpdate = ({ last }: Pick<UpdatePlaces, 'last'>, update: LastUpdate): void =>
  writeFileAtomic(last, `${JSON.stringify(update, null, 2)}\n`);
