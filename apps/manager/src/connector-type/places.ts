import { realpathSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';

/** The kit that every connector runs on, with its packages. */
export const kitPlaces = ['packages', 'node_modules'].map((name) => path.join(repositoryRoot, name));

/**
 * Where the code of an added type is: its folder, the target if the folder is a link, the packages that were installed
 * around it, and the link to our packages beside it.
 */
export function addedPlaces(folder: string): string[] {
  const real = realpathSync(folder);
  return [folder, real, ...packagesAround(real), path.join(path.dirname(folder), 'node_modules')];
}

/** The `node_modules` that contains an npm package: the packages it needs are beside it there. */
export function packagesAround(folder: string): string[] {
  const part = `${path.sep}node_modules`;
  const at = folder.indexOf(part + path.sep);
  return at === -1 ? [] : [folder.slice(0, at + part.length)];
}

export const isInside = (file: string, folder: string): boolean =>
  file === folder || file.startsWith(folder === '/' ? folder : `${folder}/`);

/**
 * Lets code in the folder of added connector types import `@svc/connector-kit` and its types, as code of this repository
 * does: Node looks for packages beside the importing file and upwards. A link or folder that the operator made is kept.
 */
export function linkPackages(root: string, connectors: string): void {
  const target = path.join(root, 'node_modules/@svc');
  const link = path.join(connectors, 'node_modules/@svc');
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isSymbolicLink() || readlinkSync(link) === target)) return;
  mkdirSync(path.dirname(link), { recursive: true, mode: 0o700 });
  rmSync(link, { force: true });
  symlinkSync(target, link);
}
