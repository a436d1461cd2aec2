import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { linkTree } from '../link-tree.ts';

/** What lies in an unpacked folder beside what the archive brought: settings, data that a person put there, what the service keeps. */
const brought = [
  'apps',
  'connectors',
  'docs',
  'engines',
  'node_modules',
  'packages',
  'runtime',
  'scripts',
  '.runtime/node_modules',
];

/** The same installation again in another folder, at next to no cost: what the archive brought, and nothing that came since. */
export function linkInstallation(from: string, to: string): void {
  mkdirSync(path.join(to, '.runtime'), { recursive: true });
  for (const place of brought) if (existsSync(path.join(from, place))) linkTree(path.join(from, place), path.join(to, place));
  for (const folder of ['.', '.runtime'])
    for (const name of readdirSync(path.join(from, folder))) {
      const file = path.join(from, folder, name);
      if (lstatSync(file).isFile() && name !== '.env' && name !== '.managed') copyFileSync(file, path.join(to, folder, name));
    }
}
