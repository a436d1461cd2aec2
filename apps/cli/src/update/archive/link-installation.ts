import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { linkTree } from '../link-tree.ts';

/** The entries of an unpacked folder that come from the archive, not settings, a person's data or files of the service. */
const fromArchive = [
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

/** A copy of the installation in another folder at almost no cost: the content of the archive, without later files. */
export function linkInstallation(from: string, to: string): void {
  mkdirSync(path.join(to, '.runtime'), { recursive: true });
  for (const place of fromArchive) if (existsSync(path.join(from, place))) linkTree(path.join(from, place), path.join(to, place));
  for (const folder of ['.', '.runtime'])
    for (const name of readdirSync(path.join(from, folder))) {
      const file = path.join(from, folder, name);
      if (lstatSync(file).isFile() && name !== '.env' && name !== '.managed') copyFileSync(file, path.join(to, folder, name));
    }
}
