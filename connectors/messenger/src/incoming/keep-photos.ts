import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorText, systemClock, type StartContext } from '@svc/connector-kit';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const mb = 1024 * 1024;

/** Limits of the photos that are kept; 0 for no limit. */
export type PhotoLimits = { days: number; megabytes: number };
type Photo = { place: string; bytes: number; at: number };

type Deps = PhotoLimits & Pick<StartContext, 'log' | 'signal'> & { folder: string; prefix: string };

/** Removes the oldest photos now and every hour, until the signal aborts. */
export function keepPhotos({ folder, prefix, log, signal, ...limits }: Deps): void {
  const prune = () =>
    void prunePhotos(folder, prefix, limits, Date.now()).catch((error: unknown) => {
      log('warn', 'old photos could not be deleted', { error: errorText(error) });
    });
  const stop = systemClock.every(hourMs, prune);
  signal.addEventListener('abort', stop, { once: true });
  prune();
}

/** Removes photos that are too old, then the oldest while they take too much space. Touches only files that this connector has named. */
export async function prunePhotos(folder: string, prefix: string, { days, megabytes }: PhotoLimits, now: number): Promise<void> {
  const photos = (await photosIn(folder, prefix)).toSorted((a, b) => b.at - a.at);
  let bytes = 0;
  for (const photo of photos) {
    bytes += photo.bytes;
    const isOld = days > 0 && now - photo.at > days * dayMs;
    if (isOld || (megabytes > 0 && bytes > megabytes * mb)) await rm(photo.place, { force: true });
  }
}

async function photosIn(folder: string, prefix: string): Promise<Photo[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const photos: Photo[] = [];
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^(b\d+-)?-?\d+_\d+\.jpg(\.part)?$/.test(name.slice(prefix.length))) continue;
    const place = path.join(folder, name);
    const stats = await lstat(place).catch(() => null); // it may have been removed meanwhile
    if (stats?.isFile() === true) photos.push({ place, bytes: stats.size, at: stats.mtimeMs });
  }
  return photos;
}
