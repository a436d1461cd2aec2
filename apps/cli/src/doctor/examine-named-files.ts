import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { quoted } from '../terminal.ts';
import { note, type Finding } from './finding.ts';

/** Of the service itself, and looked at as such. */
const ownFiles = new Set(['SVC_SECRETS_FILE']);
const secretName = /SECRET|CREDENTIAL|PASSWORD|TOKEN|AUTH|KEY/;

/** `.env`, and the files with secrets that it names for programs of the service: a warning for each that others can read. */
export async function examineNamedFiles(root: string): Promise<Finding[]> {
  const own = path.join(root, '.env');
  const named = Object.entries(readEnv(root, {})).flatMap(([name, value = '']) =>
    secretName.test(name) && !ownFiles.has(name) && path.isAbsolute(value)
      ? [{ file: value, what: `${value} (${name} of .env)` }]
      : [],
  );
  const found = await Promise.all([{ file: own, what: own }, ...named].map(examineOne));
  return found.flat();
}

/** Nothing of what is not there: a value that begins with a slash need not be a file. */
async function examineOne({ file, what }: { file: string; what: string }): Promise<Finding[]> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true || (found.mode & 0o077) === 0) return [];
  return [note('settings', `${what} can be read by other users of this machine`, `chmod 600 ${quoted(file)}`)];
}
