import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, linkSync, readFileSync, rmSync } from 'node:fs';
import { writeFileAtomic, readIfThere } from './files.ts';

const keyForm = /^[0-9a-f]{64}$/;

/**
 * The 32 bytes of a key file in the data folder that no connector can open. The first process that needs it creates it.
 * @throws Error when the file is damaged; `loss` describes what then fails
 */
export function readInstallationKey(file: string, loss: string, link = linkSync): Buffer {
  const found = tryRead(file) ?? makeKey(file, link);
  if (!keyForm.test(found)) throw new Error(`${file} is damaged: ${loss} Remove it and restart the service.`);
  return Buffer.from(found, 'hex');
}

/** Two processes may create it at once: the first file with the name stays, and both read that one. */
function makeKey(file: string, link: typeof linkSync): string {
  const draft = `${file}.${process.pid}.new`;
  writeFileAtomic(draft, randomBytes(32).toString('hex'));
  try {
    link(draft, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (cannotLink.has(code)) copyFirst(draft, file);
    else if (code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}

/** Error codes of file systems without hard links, such as a network share. */
const cannotLink = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function copyFirst(draft: string, file: string): void {
  try {
    copyFileSync(draft, file, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const tryRead = (file: string): string | null => readIfThere(file)?.trim() ?? null;
