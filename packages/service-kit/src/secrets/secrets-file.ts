import { readFile, stat } from 'node:fs/promises';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { writeFileAtomic, realPlace } from '../files.ts';
import { ServiceError } from '../service-error.ts';

/**
 * The names and values in a secrets file; none when there is no file. Errors never quote the text.
 * @throws ServiceError `unprocessable` when others can read the file or it is no JSON object.
 */
export async function readSecretsFile(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw unusable(`${file} can be read by others. Run: chmod 600 ${file}`);
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const secrets = parseObject(text);
  if (secrets === null) throw unusable(`${file} is not a JSON object of names and values. Correct it.`);
  return secrets;
}

/**
 * Writes one value into a secrets file, or takes it out (null): a reader sees the file of before or the new one. Mode 0600. Says whether
 * there was one of that name.
 */
export async function writeSecret(file: string, name: string, value: string | null): Promise<boolean> {
  const secrets = new Map(Object.entries(await readSecretsFile(file)));
  const wasThere = secrets.delete(name);
  if (value !== null) secrets.set(name, value);
  else if (!wasThere) return false;
  // A link to the file stays a link.
  writeFileAtomic(realPlace(file), `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`);
  return wasThere;
}

function parseObject(text: string): Record<string, unknown> | null {
  const value = parseJsonOrNull(text);
  return isRecord(value) ? { ...value } : null;
}

const unusable = (message: string) => new ServiceError('unprocessable', message);
