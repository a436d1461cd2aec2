import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync } from 'node:fs';
import { writeFileAtomic, readIfThere } from './files.ts';

const keyForm = /^[0-9a-f]{64}$/;

/**
 * The 32 bytes in a file of the data folder that no connector can open, made by the first process that needs them.
 * @throws Error when the file holds something else; `loss` says what then fails
 */
export function readInstallationKey(file: string, loss: string): Buffer {
  const found = tryRead(file) ?? makeKey(file);
  if (!keyForm.test(found)) throw new Error(`${file} is damaged: ${loss} Remove it and restart the service.`);
  return Buffer.from(found, 'hex');
}

/** Two processes may make it at once: the first file to get the name stays, and both read that one. */
function makeKey(file: string): string {
  const draft = `${file}.${process.pid}.new`;
  writeFileAtomic(draft, randomBytes(32).toString('hex'));
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}

const tryRead = (file: string): string | null => readIfThere(file)?.trim() ?? null;
