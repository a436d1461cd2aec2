import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { quoted } from '../terminal.ts';
import { examineNamedFiles } from './examine-named-files.ts';
import { fine, problem, type Finding } from './finding.ts';

/** Keys are a few hundred bytes each. */
const maxBytes = 4 * 1024 * 1024;

/** Files with secrets: private, and in the expected format. They may be outside the data folder. */
export async function examineFiles({
  root,
  dataDir,
  secretsFile,
}: Pick<Settings, 'root' | 'dataDir' | 'secretsFile'>): Promise<Finding[]> {
  const found = await Promise.all([
    examineFile('secrets', secretsFile, isRecord, 'a JSON object of names and values'),
    examineFile('settings', path.join(root, '.env'), null, ''),
    examineNamedFiles(root),
    ...keysFilesIn(dataPaths(dataDir).instances).map((file) =>
      mayBeEmpty(file)
        ? examineFile('keys', file, hasKeyList, 'a JSON object with a list "keys"')
        : examineFile('keys', file, hasKeys, 'a JSON object with a list "keys" that has a key'),
    ),
  ]);
  return found.flat();
}

function keysFilesIn(instances: string): string[] {
  try {
    return readdirSync(instances).map((id) => path.join(instances, id, 'keys.json'));
  } catch {
    return []; // there is no instance yet, or the finding about the folder says why it cannot be read
  }
}

const hasKeyList = (value: unknown): value is { keys: unknown[] } => isRecord(value) && Array.isArray(value['keys']);
const hasKeys = (value: unknown): boolean => hasKeyList(value) && value.keys.length > 0;

/** For device gateways an empty list is valid: the last device may have been revoked. Ids begin with their type. */
const mayBeEmpty = (file: string): boolean => /^(?:device|mobile)(?:-\d+)?$/.test(path.basename(path.dirname(file)));

/** No finding for a missing file. The content is never quoted. */
async function examineFile(
  name: string,
  file: string,
  isGood: ((value: unknown) => boolean) | null,
  form: string,
): Promise<Finding[]> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return found.code === 'ENOENT' || found.code === 'ENOTDIR' ? [] : [unreadable(name, file, found)];
  if (!found.isFile()) return [problem(name, `${file} is not a file`, `mv ${quoted(file)} ${quoted(`${file}.old`)}`)];
  if (isForeign(found.uid)) return [problem(name, `${file} belongs to another user`, `sudo chown "$(id -un)" ${quoted(file)}`)];
  if ((found.mode & 0o077) !== 0 && isGood !== null)
    return [problem(name, `${file} can be read by other users of this machine`, `chmod 600 ${quoted(file)}`)];
  if (isGood === null) return [];
  const text = found.size > maxBytes ? null : await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error);
  if (text instanceof Error) return [unreadable(name, file, text)];
  if (text === null || !isGood(parseJsonOrNull(text)))
    return [problem(name, `${file} is not ${form}`, `"\${EDITOR:-vi}" ${quoted(file)}`)];
  return [fine(name, `${file} can be read by this user only`)];
}

const unreadable = (name: string, file: string, { code }: NodeJS.ErrnoException): Finding =>
  problem(name, `${file} cannot be read (${code})`, `sudo chown "$(id -un)" ${quoted(file)}`);

/** Root can read everything, and files written by root are closed to the owner. */
export const isForeign = (uid: number): boolean => process.getuid !== undefined && uid !== process.getuid();
