import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './places.ts';
import { realPlace } from '@svc/service-kit/files.ts';

/** Far more than a connector with its packages has. */
const mostFiles = 200_000;

/**
 * Throws when a link in one of the folders leads to a place that is not among those allowed: Node's permission model
 * judges a path by its name, then follows the link. Links cannot be made by those that it confines.
 */
export function checkLinks(folders: readonly string[], allowed: readonly string[]): void {
  const places = allowed.map(realPlace);
  let left = mostFiles;
  const walk = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (left-- === 0) throw new Error(`${dir} holds too many files to look through.`);
      const file = path.join(dir, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (entry.isSymbolicLink()) check(file);
    }
  };
  const check = (link: string): void => {
    const target = targetOf(link);
    if (places.some((place) => isInside(target, place))) return;
    throw new Error(`${link} is a link to ${target}, which is not open to a connector; put the file itself there`);
  };
  for (const folder of folders) walk(folder);
}

/** What is not there today may be there tomorrow, so a link that leads nowhere counts by its text. */
function targetOf(link: string): string {
  try {
    return realpathSync(link);
  } catch {
    return realPlace(path.resolve(path.dirname(link), readlinkSync(link)));
  }
}
