import { Transform } from 'node:stream';
import { isConnectorPart } from '@svc/service-kit/restore/keep-present.ts';
import { isSecretName } from '@svc/service-kit/restore/secret-files.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import { noRoomToUnpack } from '../file/disk-space.ts';
import { isPlainPath } from '../file/file-name.ts';

export const contentsName = 'backup.json';
export const secretsName = 'secrets.enc';

const single = new Set([
  'core.db',
  'manager.db',
  'collector.db',
  'trust.seed.json',
  'pricing.json',
  'moderation.deny.txt',
  'persona.md',
  secretsName,
  contentsName,
]);
/** The allowed top-level names, and a check of what may be below each. */
const folders: Record<string, (rest: readonly string[]) => boolean> = {
  // Secret files are sealed, or left out.
  instances: (rest) => rest.length >= 2 && !rest.slice(1).some(isSecretName),
  connectors: (rest) => rest.length >= 2 && rest.every(isConnectorPart),
  uploads: (rest) => rest[0] !== '.staging' && rest.length <= 3,
  personas: (rest) => rest.length === 1 && /^[a-z0-9-]{1,64}\.md$/.test(rest[0] ?? ''),
  silos: (rest) => rest.length === 2 && rest.every((part) => /^[0-9a-z_]{1,64}$/.test(part)),
};

/**
 * True for a name that our archives may contain. No other file is ever written, so a name cannot lead out of the folder
 * that the archive is unpacked into.
 */
export function isArchiveName(name: string): boolean {
  if (single.has(name)) return true;
  if (!isPlainPath(name)) return false;
  const [first = '', ...rest] = name.split('/');
  return rest.length > 0 && Object.hasOwn(folders, first) && folders[first]?.(rest) === true;
}

/** The same for names that not every file system distinguishes: `A` and `a`, or two spellings of one letter. */
export const foldedName = (name: string): string => name.normalize('NFC').toLowerCase();

/** Names inside the sealed part. */
export const isSecretPath = (name: string): boolean =>
  name === 'secrets.json' || name === 'vault/vault.db' || (isPlainPath(name) && /^instances\/[^/]+\/./.test(name));

export type ArchiveLimits = {
  /** Of all content, unpacked. */
  maxBytes: number;
  /** Of entries, besides one for every `leastStored` packed bytes: uploads and silos are stored unpacked, and there may be many. */
  maxEntries: number;
  /** Largest ratio of unpacked to packed size, after the first `slackBytes`. */
  maxRatio: number;
  slackBytes: number;
};

export const usualLimits: Omit<ArchiveLimits, 'maxBytes'> = { maxEntries: 200_000, maxRatio: 100, slackBytes: 64 * 1024 * 1024 };

/** A stored entry has at least a header, whatever it contains. */
const leastStored = 512;

export const mostEntries = ({ maxEntries }: ArchiveLimits, { packed }: Counter): number => maxEntries + packed / leastStored;

/** Bytes so far, before and after unpacking. */
export type Counter = { packed: number; unpacked: number };

export const countPacked = (counter: Counter) =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      counter.packed += bytes.length;
      done(null, bytes);
    },
  });

/** Sits between unpacker and reader, so that bytes outside of entries are counted too. */
export const limitUnpacked = (counter: Counter, { maxBytes, maxRatio, slackBytes }: ArchiveLimits) =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      counter.unpacked += bytes.length;
      if (counter.unpacked > maxBytes) done(noRoomToUnpack(maxBytes));
      else if (counter.unpacked > slackBytes + maxRatio * counter.packed) {
        done(refused(`The backup unpacks to more than ${maxRatio} times its size, which no backup of this service does.`));
      } else done(null, bytes);
    },
  });

/** The error of a refused archive. */
export const refused = (message: string, cause?: unknown) => new ServiceError('unprocessable', message, { cause });

/** Wraps the messages of the unpackers in a sentence; faults of the disk stay as they are. */
export function toRefusal(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || (code?.startsWith('E') === true && !code.startsWith('ERR_'))) return error;
  return refused(`The backup cannot be unpacked: it is incomplete, damaged or not a backup (${errorText(error)}).`, error);
}
