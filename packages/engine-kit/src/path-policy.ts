import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { EngineRequest } from './engine.ts';

/**
 * What a turn with the policy `read` may read: its working folder and the files of its conversation. Paths and patterns of all tools of all
 * engines are checked against this; what cannot be interpreted is refused.
 */
export type ReadScope = Pick<EngineRequest, 'cwd' | 'filesDir'>;

/** The real path of a path that may be read, with links resolved; null for anything else, including missing files. */
export function readablePath(scope: ReadScope, target: unknown): string | null {
  if (typeof target !== 'string' || !isPlainPath(target)) return null;
  const file = realPath(path.resolve(scope.cwd, target));
  if (file === null) return null;
  const roots = [scope.cwd, scope.filesDir].map((root) => (root === null ? null : realPath(root)));
  return roots.some((root) => root !== null && isInside(root, file)) ? file : null;
}

/**
 * Characters of a pattern that every matcher interprets in the same way: names, blanks, `*`, `?` and `,`, and letters of any script.
 * Excluded are escapes, classes and groups, which could express other characters, and look-alike characters.
 */
const sign = String.raw`[\w .,*?/{}@+=#&'!^\-\u00a1-\u1fff\u3041-\ufdcf]`;

/**
 * What a pattern of {@link sign}s must not contain: a parent folder, an absolute beginning, and braces with anything but names, because
 * such braces could produce the other two (`{.,}./x`, `{a,/etc/x}`).
 */
const traps = [String.raw`[^"]*\.\.`, '/', String.raw`[^"]*\{[^}]*[^\w,}]`, String.raw`[^"]*\{[,}]`, '[^"]*,[,}]'];

/**
 * Source of a regular expression for the JSON of a pattern that names nothing outside its folder. It repeats no group: the rules of one
 * engine's program accept it, and nothing more complex.
 */
export const plainPattern = `"${traps.map((trap) => `(?!${trap})`).join('')}${sign}+"`;

const wholePattern = new RegExp(`^${plainPattern}$`);
const maxPattern = 1000;

/** True for a pattern that stays in its folder, which by default is the working folder. */
export function isReadablePattern(scope: ReadScope, pattern: unknown, folder: string = scope.cwd): boolean {
  if (typeof pattern !== 'string' || pattern.length > maxPattern) return false;
  if (!wholePattern.test(JSON.stringify(pattern))) return false;
  return isBeginningReadable(scope, path.resolve(folder, beginningOf(pattern)));
}

/** The folders in a pattern before its first wildcard. */
function beginningOf(pattern: string): string {
  const steps = pattern.split('/').slice(0, -1);
  const wild = steps.findIndex((step) => /[*?{}]/.test(step));
  return steps.slice(0, wild === -1 ? undefined : wild).join('/');
}

/** A link among them must not lead outside; a missing folder leads nowhere. */
const isBeginningReadable = (scope: ReadScope, folder: string): boolean =>
  realPath(folder) === null || readablePath(scope, folder) !== null;

/** Excludes what programs interpret differently: a home folder, surrounding blanks that are trimmed, the end of a string. */
const isPlainPath = (target: string): boolean =>
  target !== '' && target.trim() === target && !/^~|[\p{Cc}\p{Zl}\p{Zp}]/u.test(target) && target.isWellFormed();

function isInside(root: string, file: string): boolean {
  const way = path.relative(root, file);
  return way === '' || !(way === '..' || way.startsWith(`..${path.sep}`) || path.isAbsolute(way));
}

function realPath(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}
