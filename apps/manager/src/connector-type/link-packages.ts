import { lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/**
 * Lets code in the folder of added connector types import `@svc/connector-kit` and its types, as code of this repository
 * does: Node looks for packages beside the importing file and upwards. What someone put there themselves stays.
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
