import { isConnectorPart } from '@svc/service-kit/restore/keep-present.ts';
import { isSecretName } from '@svc/service-kit/restore/secret-files.ts';
import { isPlainPath } from '../file/plain-path.ts';

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
/** A first part and what may be below it. */
const folders: Record<string, (rest: readonly string[]) => boolean> = {
  // Secret ones come sealed or not at all.
  instances: (rest) => rest.length >= 2 && !rest.slice(1).some(isSecretName),
  connectors: (rest) => rest.length >= 2 && rest.every(isConnectorPart),
  uploads: (rest) => rest[0] !== '.staging' && rest.length <= 3,
  silos: (rest) => rest.length === 2 && rest.every((part) => /^[0-9a-z_]{1,64}$/.test(part)),
};

/**
 * True for a name that an archive of ours can have. Nothing else is ever written, so a name can lead nowhere but into the
 * folder that it is unpacked in.
 */
export function isArchiveName(name: string): boolean {
  if (single.has(name)) return true;
  if (!isPlainPath(name)) return false;
  const [first = '', ...rest] = name.split('/');
  return rest.length > 0 && Object.hasOwn(folders, first) && folders[first]?.(rest) === true;
}

/** Names inside the sealed part. */
export const isSecretPath = (name: string): boolean =>
  name === 'secrets.json' || name === 'vault/vault.db' || (isPlainPath(name) && /^instances\/[^/]+\/./.test(name));
