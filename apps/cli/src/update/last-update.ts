import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { readJson } from '@svc/service-kit/restore/disk.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Version } from './journal.ts';
import { type Outcome, updateCodes } from './update-outcome.ts';

/**
 * How the last update that came as far as a switch ended. `back`: the version before the last one that stayed. `gapMs`: for how long the core answered
 * nobody; null when nothing ran.
 */
export type LastUpdate = Outcome & {
  id: string;
  from: Version;
  to: Version;
  back: Version | null;
  endedAt: number;
  gapMs: number | null;
};

export const readLastUpdate = ({ last }: Pick<UpdatePlaces, 'last'>): LastUpdate | null => readJson(last) as LastUpdate | null;

export function writeLastUpdate(places: Pick<UpdatePlaces, 'last'>, update: Omit<LastUpdate, 'back'>): void {
  const back = update.code === updateCodes.ok ? update.from : (readLastUpdate(places)?.back ?? null);
  writeFileAtomic(places.last, `${JSON.stringify({ ...update, back }, null, 2)}\n`);
}
