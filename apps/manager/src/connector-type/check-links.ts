import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from './places.ts';
import { realPlace } from '@svc/service-kit/files.ts';

/** Far more than a connector with its packages has. */
const mostFiles = 200_000;

/**
 * Throws when a link in one of the folders leads to a place that is not among those allowed: Node's permission model
 * judges a path by its name, then follows the link. A confined process cannot create links itself.
 */
export function checkLinks(folders: readonly string[], allowed: readonly string[]): void {
  const places = allowed.map(realPlace);
  let left = mostFiles;
  const walk = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (left-- === 0) throw new Error(`${dir} has too many files to check for links.`);
      const file = path.join(dir, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (entry.isSymbolicLink()) check(file);
    }
  };
  const check = (link: string): void => {
    const target = targetOf(link);
    if (places.some((place) => isInside(target, place))) return;
    throw new Error(`${link} links to ${target}, which a connector may not read; replace the link with the file itself`);
  };
  for (const folder of folders) walk(folder);
}

/** A link that leads nowhere is judged by its text, because its target may be created later. */
function targetOf(link: string): string {
  try {
    return realpathSync(link);
  } catch {
    return realPlace(path.resolve(path.dirname(link), readlinkSync(link)));
  }
}
