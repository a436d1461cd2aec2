import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SettingsError } from './setting.ts';

export type Env = Record<string, string | undefined>;

/** The environment, which overrides the `.env` file at the root; a variable set to the empty string counts as set. */
export function readEnv(root: string, env: Env = process.env): Env {
  let text: string;
  try {
    text = readFileSync(path.join(root, '.env'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...env };
    throw new SettingsError([`.env at ${root} cannot be read: ${(error as Error).message}`]);
  }
  const { parseEnv } = process.getBuiltinModule('node:util'); // loaded only if there is a file
  // The byte order mark that some editors write would become a part of the first name.
  return { ...parseEnv(text.replace(/^\uFEFF/, '')), ...env };
}

/** The value of a variable that is only for this process: it is removed from its environment, so that no child inherits it. */
export function takeEnv(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}

/**
 * Reports the lines of the `.env` file at the root that are ignored. Their text is not shown: it may be a secret that was
 * pasted there.
 */
export function unreadEnvLines(root: string): string[] {
  return unreadLines(textOf(path.join(root, '.env'))).map((number) => `Line ${number} of .env has no "=" and is ignored.`);
}

/** Names that the `.env` file at the root sets more than once. The last line is used. */
export const repeatedEnvNames = (root: string): string[] => repeatedNames(textOf(path.join(root, '.env')));

export function repeatedNames(text: string): string[] {
  const names = withoutLongValues(text)
    .split('\n')
    .flatMap((line) => /^\uFEFF?\s*(?:export\s+)?([\w.-]+)\s*=/.exec(line)?.[1] ?? []);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

/** Numbers of the lines that set nothing and are neither comments nor blank. */
export function unreadLines(text: string): number[] {
  const lines = withoutLongValues(text).split('\n');
  return lines.flatMap((line, at) => (isUnread(line.trim()) ? [at + 1] : []));
}

/** Replaces quoted values, which may have several lines, by empty lines. */
const withoutLongValues = (text: string): string =>
  text.replaceAll(/^([^#=\n]*=[ \t]*)(["'`])((?:(?!\2)[^])*)\2/gm, (_whole, name: string, _quote, value: string) =>
    name.concat('\n'.repeat(value.split('\n').length - 1)),
  );

const isUnread = (line: string): boolean => line !== '' && !line.startsWith('#') && !line.includes('=');

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // readEnv reports the reason
  }
}
