import { readFile, stat } from 'node:fs/promises';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { writeFileAtomic, realPlace } from '../files.ts';
import { ServiceError } from '../service-error.ts';

/**
 * The names and values in a secrets file; empty when there is no file. Errors never quote its content.
 * @throws ServiceError `unprocessable` when other users can read the file, or it is no JSON object.
 */
export async function readSecretsFile(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw unusable(`${file} can be read by other users. Run: chmod 600 ${file}`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const secrets = parseObject(text);
  if (secrets === null) throw unusable(`${file} is not a JSON object of names and values. Fix the file.`);
  return secrets;
}

/**
 * Writes one value into a secrets file, or removes it (null), atomically and with mode 0600. Returns whether there was a value
 * of that name.
 */
export async function writeSecret(file: string, name: string, value: string | null): Promise<boolean> {
  const secrets = new Map(Object.entries(await readSecretsFile(file)));
  const wasThere = secrets.delete(name);
  if (value !== null) secrets.set(name, value);
  else if (!wasThere) return false;
  // If the file is a link, it stays one.
  writeFileAtomic(realPlace(file), `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`);
  return wasThere;
}

function parseObject(text: string): Record<string, unknown> | null {
  const value = parseJsonOrNull(text);
  return isRecord(value) ? { ...value } : null;
}

const unusable = (message: string) => new ServiceError('unprocessable', message);
