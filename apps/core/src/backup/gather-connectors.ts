import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { isConnectorPart } from '@svc/service-kit/restore/keep-present.ts';
import { isArchiveName } from './archive-names.ts';
import { entriesOf, sized, type PackedFile } from './packed-file.ts';

/** Of one connector. Code is far below; more is data or packages that came into its folder. */
const [maxFiles, maxBytes] = [2000, 32 * 1024 * 1024];

export type GatheredConnectors = { files: PackedFile[]; leftOut: string[] };

/** The code of the operator's own connectors. One that is too much, or whose names some systems cannot tell apart, is left out. */
export async function gatherConnectors(folder: string): Promise<GatheredConnectors> {
  const gathered: GatheredConnectors = { files: [], leftOut: [] };
  const taken = new Set<string>();
  if (!(await isFolder(folder))) return gathered;
  for (const entry of await entriesOf(folder)) {
    // One whose name is left out is none: packages, what an editor left.
    if (!entry.isDirectory() || !isConnectorPart(entry.name)) continue;
    const found: PackedFile[] = [];
    const isWhole = await gather(`connectors/${entry.name}`, path.join(folder, entry.name), found);
    const keys = found.map(({ name }) => name.normalize('NFC').toLowerCase());
    const isClear = new Set(keys).size === keys.length && keys.every((key) => !taken.has(key));
    if (!isWhole || !isClear) gathered.leftOut.push(entry.name);
    else {
      gathered.files.push(...found);
      for (const key of keys) taken.add(key);
    }
  }
  return gathered;
}

/** Plain files, none through a link. False as soon as it is too much. */
async function gather(prefix: string, folder: string, found: PackedFile[]): Promise<boolean> {
  for (const entry of await entriesOf(folder)) {
    const [name, file] = [`${prefix}/${entry.name}`, path.join(folder, entry.name)];
    // A folder is looked into only when something in it could be taken.
    if (!isArchiveName(entry.isDirectory() ? `${name}/x` : name)) continue;
    if (entry.isDirectory() && !(await gather(name, file, found))) return false;
    const own = entry.isFile() ? await sized(name, file) : null;
    if (own !== null) found.push(own);
    if (found.length > maxFiles || found.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) return false;
  }
  return true;
}

/** Not a link: where one leads may be anything of this machine. */
async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await lstat(folder)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
