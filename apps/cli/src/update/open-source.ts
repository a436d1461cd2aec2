import type { Settings } from '@svc/service-kit/config/settings.ts';
import { archivesOf } from '@svc/service-kit/update/managed.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { openArchiveSource } from './archive/archive-source.ts';
import { openGitSource } from './git-source.ts';
import type { VersionSource } from './version-source.ts';

/** The source of versions for this installation. `root`: the running code. */
export function openSource(
  places: UpdatePlaces,
  root: string,
  { updateArchives, updateAllowUnsigned: allowUnsigned }: Pick<Settings, 'updateArchives' | 'updateAllowUnsigned'>,
): VersionSource {
  const base = archivesOf(places.home, updateArchives);
  if (base !== null) return openArchiveSource({ places, root, base, allowUnsigned });
  return openGitSource({ places, root, allowUnsigned });
}
