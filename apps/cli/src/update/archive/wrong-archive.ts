import path from 'node:path';
import { makePrivateDir, writeFileAtomic } from '@svc/service-kit/files.ts';
import { readJsonFile } from '@svc/service-kit/json/read-json-file.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { describeFile, type Described } from './download.ts';
import type { Published } from './published.ts';

type Wrong = { url: string; digest: string; mark: string | null };
type Place = Pick<UpdatePlaces, 'folder'>;

const fileOf = ({ folder }: Place): string => path.join(folder, 'download', 'wrong.json');

/** Remembers an archive that was downloaded completely and does not match its checksums. The next correct one removes the record. */
export function noteWrong(places: Place, { url, digest }: Published, { mark }: Described): void {
  makePrivateDir(path.dirname(fileOf(places)));
  writeFileAtomic(fileOf(places), JSON.stringify({ url, digest, mark } satisfies Wrong));
}

/** Whether the record still applies: neither the checksums nor the archive have changed since. Reads only. */
export async function isStillWrong(places: Place, { url, digest }: Published): Promise<boolean> {
  const wrong = readJsonFile(fileOf(places)) as Wrong | null;
  if (wrong?.url !== url || wrong.digest !== digest) return false;
  const { mark } = await describeFile(url);
  return mark === null || mark === wrong.mark;
}
