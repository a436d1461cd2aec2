import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { readJson } from '@svc/service-kit/restore/disk.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Version } from './journal.ts';
import { type Outcome, updateCodes } from './update-outcome.ts';

/**
 * How the last update that came as far as a switch ended. `back`: the version before the last one that stayed. `gapMs`: for how long the core answered
 * nobody; null when nothing ran.
 */
export type LastUpdate = Omit<Outcome, 'gapMs'> & {
  id: string;
  from: Version;
  to: Version;
  back: Version | null;
  /** A commit that is not installed without being asked for. */
  refused: string | null;
  endedAt: number;
  gapMs: number | null;
};

export const readLastUpdate = ({ last }: Pick<UpdatePlaces, 'last'>): LastUpdate | null => readJson(last) as LastUpdate | null;

export function writeLastUpdate(
  places: Pick<UpdatePlaces, 'last'>,
  update: Omit<LastUpdate, 'back' | 'refused'>,
  isRollback: boolean,
): void {
  const isDone = update.code === updateCodes.ok;
  const back = isDone ? update.from : (readLastUpdate(places)?.back ?? null);
  const refused = !isDone ? update.to.commit : isRollback ? update.from.commit : null;
  writeFileAtomic(places.last, `${JSON.stringify({ ...update, back, refused }, null, 2)}\n`);
}
