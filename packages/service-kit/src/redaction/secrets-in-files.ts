import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../files.ts';
import { errorText } from '../service-error.ts';
import { shortPath } from '../short-path.ts';

/** `instancesDir`: the folder of connector instances; each may have a `keys.json`. */
type Places = { secretsFile: string; instancesDir: string };

/** A file with secrets. Its `stamp` changes with every write. */
export type FileStamp = { file: string; stamp: string };

/** The greatest size of a keys file. A connector stores more in it than keys, such as the names of devices. */
const maxFileBytes = 4 * 1024 * 1024;
/** The greatest total of the secrets in one file: every character costs memory for the life of the process. */
const maxSecretChars = 256 * 1024;

/** The secrets file and the keys files of connectors, as far as they exist. */
export function secretFiles({ secretsFile, instancesDir }: Places): FileStamp[] {
  const keyFiles = namesIn(instancesDir).map((name) => path.join(instancesDir, name, 'keys.json'));
  return [secretsFile, ...keyFiles].flatMap((file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    // A new file may have the size and times of the old one, because its writer can set them; so the inode counts too.
    return stat === undefined ? [] : [{ file, stamp: `${stat.ino}-${stat.ctimeMs}-${stat.mtimeMs}-${stat.size}` }];
  });
}

/** The secrets in one of these files, each with its name. @throws Error that names the file. */
export function secretsInFile(file: string, { secretsFile }: Pick<Places, 'secretsFile'>): [name: string, value: string][] {
  const secrets = file === secretsFile ? textsByName(parseFile(file)) : keysOfFile(file);
  const chars = secrets.reduce((sum, [, value]) => sum + value.length, 0);
  if (chars > maxSecretChars) throw new Error(`${shortPath(file)} contains more than ${maxSecretChars / 1024} KiB of secrets`);
  return secrets;
}

/**
 * The keys in a keys file (`{ keys: [{ key }] }`), and the tokens in that of a device gateway that are not digests yet. In a file
 * with a connector's own format, everything counts.
 */
function keysOfFile(file: string): [string, string][] {
  const content = parseFile(file);
  const keys = content['keys'];
  if (!Array.isArray(keys)) return textsByName(content);
  return keys.flatMap((entry) => {
    const { key, token } = (entry ?? {}) as Record<string, unknown>;
    return [key, token].flatMap((value) => (typeof value === 'string' ? [['an API key', value] as [string, string]] : []));
  });
}

const textsByName = (content: Record<string, unknown>): [string, string][] =>
  Object.entries(content).flatMap(([name, value]) => textsIn(value).map((text): [string, string] => [name, text]));

/** Errors name the file and never quote it: they appear in /health and in the log. */
function parseFile(file: string): Record<string, unknown> {
  const stat = statSync(file);
  const name = shortPath(file);
  if (!stat.isFile()) throw new Error(`${name} is not a file`);
  if (stat.size > maxFileBytes) throw new Error(`${name} is larger than ${maxFileBytes / 1024} KiB`);
  const content = parseJson(readFileSync(file, 'utf8'));
  if (content === undefined) throw new Error(`${name} is not valid JSON`);
  if (typeof content !== 'object' || content === null) throw new Error(`${name} does not contain a JSON object`);
  return content as Record<string, unknown>;
}

/** Undefined for invalid JSON: the parser's own message would quote the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Why a file cannot be read, in plain words: the system's own message names the call. */
export function unreadable(error: unknown): string {
  const { code, path: file } = error as NodeJS.ErrnoException;
  if (file === undefined) return errorText(error);
  return code === 'EACCES' ? `this user may not read ${shortPath(file)}` : `${shortPath(file)} cannot be read (${code})`;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
