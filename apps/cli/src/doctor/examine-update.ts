import { accessSync, constants, existsSync } from 'node:fs';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { managerOf } from '@svc/service-kit/update/managed.ts';
import { isHeldBack, isLeftOpen, readUpdateCheck } from '@svc/service-kit/update/update-files.ts';
import { installationHome, updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { quoted } from '../terminal.ts';
import { readJournal } from '../update/journal.ts';
import { readLastUpdate } from '../update/last-update.ts';
import { readTrial } from '../update/pointer.ts';
import { note, problem, type Finding } from './finding.ts';

/** What an update left behind, why the last one was not kept, and whether a new one is possible. Empty when another tool updates this installation. */
export function examineUpdate(settings: Pick<Settings, 'root' | 'dataDir' | 'updateManaged' | 'updateArchives'>): Finding[] {
  const places = updatePlaces(installationHome(settings.root));
  if (managerOf(places.home, settings) !== null) return [];
  return [...leftOpen(places), ...lastOne(places), ...published(places, settings.dataDir), ...folderOf(places)];
}

function leftOpen(places: UpdatePlaces): Finding[] {
  if (!isLeftOpen(places)) return [];
  const to = readJournal(places)?.to.name ?? 'another version';
  const isOnTrial = readTrial(places) !== null;
  const more = isOnTrial ? `; it is on trial, and is rolled back after 40 minutes unless it is confirmed` : '';
  return [problem('update', `an update to ${to} was interrupted${more}`, './svc update --repair')];
}

/** An update that failed because of the machine is retried, so it is not reported. */
function lastOne(places: UpdatePlaces): Finding[] {
  const last = readLastUpdate(places);
  if (last === null || last.code === 0 || !isHeldBack(places, last.to.commit)) return [];
  return [note('update', `the last one was not kept: ${last.words.split('\n')[0]}`)];
}

/** The state of the published release, as last seen by an update or by the service. */
function published(places: UpdatePlaces, dataDir: string): Finding[] {
  const check = readUpdateCheck(dataDir);
  const last = readLastUpdate(places);
  const isOfCheck = (check?.checked_at ?? 0) >= (last?.endedAt ?? 0);
  const words = isOfCheck ? check?.refused === true && check.words : last?.isRefused === true && last.words;
  return typeof words === 'string'
    ? [problem('update', words.split('\n')[0] ?? '', 'report it to its publisher; ./svc update tries it again')]
    : [];
}

function folderOf({ home, folder }: UpdatePlaces): Finding[] {
  const place = [folder, `${home}/.runtime`].find((name) => existsSync(name)) ?? home;
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS';
    const fix = isReadOnly
      ? 'mount it writable, or set SVC_UPDATE_MANAGED in .env to the name of what updates it'
      : `sudo chown -R "$(id -un)" ${quoted(place)}`;
    return [note('update', `this user cannot write ${place}, so nothing can be installed`, fix)];
  }
}
