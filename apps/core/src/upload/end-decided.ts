import type { ManifestEntry } from '@svc/contract/upload.ts';
import { finishDeletion } from './delete-file.ts';
import { type Area, publishAgain } from './publish.ts';

/** Completes what was decided about an upload before a crash. Returns the file that it became, or null while nothing is decided. */
export async function endDecided(area: Area, id: string): Promise<ManifestEntry | 'deleted' | null> {
  const tombstone = await area.staging.tombstone(id);
  if (tombstone !== null) {
    await finishDeletion(area, tombstone);
    return 'deleted';
  }
  return publishAgain(area, id);
}
