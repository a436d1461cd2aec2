import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { EngineRequest } from './engine.ts';

/**
 * What a turn with the policy `read` may look at: its working folder and the files of its conversation. Paths and patterns
 * of every tool are held against this, whatever the engine; what is not understood is refused.
 */
export type ReadScope = Pick<EngineRequest, 'cwd' | 'filesDir'>;

/** The real place of a path that may be read, links followed; null for anything else, also for what is not there. */
export function readablePath(scope: ReadScope, target: unknown): string | null {
  if (typeof target !== 'string' || !isPlainPath(target)) return null;
  const file = realPath(path.resolve(scope.cwd, target));
  if (file === null) return null;
  const roots = [scope.cwd, scope.filesDir].map((root) => (root === null ? null : realPath(root)));
  return roots.some((root) => root !== null && isInside(root, file)) ? file : null;
}

/**
 * Signs of a pattern that mean one thing to every matcher: names, blanks, `*`, `?` and `,`, and letters of any script. Left
 * out are escapes, classes and groups, which could spell what is not written, and signs that look like another one.
 */
const sign = String.raw`[\w .,*?/{}@+=#&'!^\-\u00a1-\u1fff\u3041-\ufdcf]`;

/**
 * What a pattern of {@link sign}s must not have: a way up, a beginning at the root, and braces with anything but names in
 * them, of which the others could be made (`{.,}./x`, `{a,/etc/x}`).
 */
const traps = [String.raw`[^"]*\.\.`, '/', String.raw`[^"]*\{[^}]*[^\w,}]`, String.raw`[^"]*\{[,}]`, '[^"]*,[,}]'];

/**
 * Source of an expression for the JSON of a pattern that names nothing outside the folder it is used in. No group in it is
 * repeated: the rules of one engine's program take it as it is, and nothing more complex.
 */
export const plainPattern = `"${traps.map((trap) => `(?!${trap})`).join('')}${sign}+"`;

const wholePattern = new RegExp(`^${plainPattern}$`);
const maxPattern = 1000;

/** True for a pattern that stays in the folder it is used in, which is the working folder unless another one is given. */
export function isReadablePattern(scope: ReadScope, pattern: unknown, folder: string = scope.cwd): boolean {
  if (typeof pattern !== 'string' || pattern.length > maxPattern) return false;
  if (!wholePattern.test(JSON.stringify(pattern))) return false;
  return isBeginningReadable(scope, path.resolve(folder, beginningOf(pattern)));
}

/** The folders that a pattern names before its first wildcard. */
function beginningOf(pattern: string): string {
  const steps = pattern.split('/').slice(0, -1);
  const wild = steps.findIndex((step) => /[*?{}]/.test(step));
  return steps.slice(0, wild === -1 ? undefined : wild).join('/');
}

/** A link among them must not lead out; what is not there leads nowhere. */
const isBeginningReadable = (scope: ReadScope, folder: string): boolean =>
  realPath(folder) === null || readablePath(scope, folder) !== null;

/** Programs read more into these: a home folder, another path after blanks are cut off, the end of a string. */
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
