import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { makePrivateDir, writeFileAtomic, readIfThere, realPlace } from '@svc/service-kit/files.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { lockFile } from '@svc/store/file-lock.ts';

/** One entry, including unknown fields from its author. */
export type KeyEntry = Record<string, unknown> & { key: string; identity: string };

const lockTries = 50;
const lockPauseMs = 100;

/** The entries of a keys file; none when it does not exist. @throws ServiceError `unprocessable` for an invalid file. */
export const readKeys = (file: string): KeyEntry[] => readFile(file).keys;

/**
 * Changes the entries of a keys file under a lock. The connector, which may read it meanwhile, sees either the old or the new entries. The
 * rest of the file stays.
 * @throws ServiceError
 */
export async function changeKeys(file: string, change: (keys: readonly KeyEntry[]) => readonly KeyEntry[]): Promise<void> {
  makePrivateDir(path.dirname(file));
  const place = realPlace(file); // a link to the file stays a link
  const release = await lock(place);
  try {
    const { keys, rest } = readFile(place);
    writeFileAtomic(place, `${JSON.stringify({ ...rest, keys: change(keys) }, null, 2)}\n`);
  } finally {
    release();
  }
}

async function lock(file: string): Promise<() => void> {
  for (let left = lockTries; ; left--) {
    try {
      return lockFile(file);
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) throw error;
      if (left === 0) throw new ServiceError('busy', 'Another program is changing the keys. Try again in a moment.');
      await sleep(lockPauseMs);
    }
  }
}

function readFile(file: string): { keys: KeyEntry[]; rest: Record<string, unknown> } {
  const text = readIfThere(file);
  if (text === null) return { keys: [], rest: {} };
  const whole = parseJsonOrNull(text);
  const { keys, ...rest } = isRecord(whole) ? whole : {};
  if (Array.isArray(keys) && keys.every(isEntry)) return { keys, rest };
  // The content is not quoted, because it contains keys.
  const form = '{ "keys": [{ "key", "identity", "username" }] }';
  throw new ServiceError(
    'unprocessable',
    `${file} is not a valid keys file. It must have the form ${form}. Correct it, or move it away.`,
  );
}

const isEntry = (entry: unknown): entry is KeyEntry =>
  isRecord(entry) && typeof entry['key'] === 'string' && typeof entry['identity'] === 'string';
