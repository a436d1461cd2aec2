import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { quoted } from '../terminal.ts';
import { note, type Finding } from './finding.ts';

/** Files of the service itself, which are examined elsewhere. */
const ownFiles = new Set(['SVC_SECRETS_FILE']);
const secretName = /SECRET|CREDENTIAL|PASSWORD|TOKEN|AUTH|KEY/;

/** `.env`, and the files with secrets that it names for other programs: a warning for each that others can read. */
export async function examineNamedFiles(root: string): Promise<Finding[]> {
  const env = path.join(root, '.env');
  const named = Object.entries(readEnv(root, {})).filter(
    ([name, value = '']) => secretName.test(name) && !ownFiles.has(name) && path.isAbsolute(value),
  );
  const found = await Promise.all([
    isOpen(env).then((open) => (open ? [warning(env, `chmod 600 ${quoted(env)}`)] : [])),
    ...named.map(async ([name, value = '']) => ((await isOpen(value)) ? [warningOf(name, env)] : [])),
  ]);
  return found.flat();
}

/** The mask treats the value of such a variable as a secret, so the path is not shown either. */
const warningOf = (name: string, env: string): Finding =>
  warning(`the file that ${name} in .env names`, `(. ${quoted(env)} && chmod 600 "$${name}")`);

const warning = (what: string, fix: string): Finding =>
  note('settings', `${what} can be read by other users of this machine`, fix);

/** Missing files are ignored: a value that begins with a slash need not be a path. */
async function isOpen(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found?.isFile() === true && (found.mode & 0o077) !== 0;
}
