import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { Version } from './journal.ts';
import { type Outcome, updateCodes } from './update-outcome.ts';

/**
 * The outcome of the last update that had a target. `back`: the version before the last one that stayed. `gapMs`: how long the core was unavailable;
 * null when it was not running.
 */
export type LastUpdate = Omit<Outcome, 'gapMs'> & {
  id: string;
  from: Version;
  to: Version;
  back: Version | null;
  /** A commit that is installed only on request. */
  refused: string | null;
  /** A commit that needs an action by a person first: it is retried only on request. */
  held?: string | null;
  endedAt: number;
  gapMs: number | null;
};

type Ended = Omit<LastUpdate, 'back' | 'refused' | 'held'>;
type Places = Pick<UpdatePlaces, 'last'>;

export const readLastUpdate = ({ last }: Places): LastUpdate | null => readJsonFile(last) as LastUpdate | null;

/** Records an update that reached the switch, or whose version does not work here. */
export function writeLastUpdate(places: Places, update: Ended, isRollback: boolean): void {
  const isDone = update.code === updateCodes.ok;
  // After the repair of a trial without a journal the version before may be unknown.
  const from = update.from.commit === '' ? null : update.from;
  const back = isDone ? from : (readLastUpdate(places)?.back ?? null);
  const refused = !isDone ? update.to.commit : isRollback ? update.from.commit : null;
  write(places, { ...update, back, refused, held: null });
}

/** Records an update that ended earlier, which says nothing about the version. */
export function writeStoppedUpdate(places: Places, update: Ended): void {
  const { back = null, refused = null } = readLastUpdate(places) ?? {};
  write(places, { ...update, back, refused, held: update.isPassing === true ? null : update.to.commit });
}

const write = ({ last }: Places, update: LastUpdate): void => writeFileAtomic(last, `${JSON.stringify(update, null, 2)}\n`);
