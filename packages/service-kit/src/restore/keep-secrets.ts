import { copyFileSync, mkdirSync, readFileSync, readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { makePrivateDir } from '../config/data-dir.ts';
import { isSecretFile } from './secret-files.ts';

/**
 * Puts the present secret files of the connector instances beside those that come without any. Done before the exchange
 * is written down, and again as often as it takes.
 */
export function keepSecrets(root: string, incoming: string): void {
  const instances = path.join(root, 'instances');
  for (const file of filesBelow(instances)) {
    const from = path.join(instances, file);
    if (!isSecretFile(file, readFileSync(from))) continue;
    const to = path.join(incoming, 'instances', file);
    makePrivateDir(path.join(incoming, 'instances'));
    mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 });
    copyFileSync(from, to);
  }
}

/** Plain files only, by their place under `folder`. Step by step: Node's own way down goes through links to folders. */
function filesBelow(folder: string, inside = ''): string[] {
  return entriesOf(path.join(folder, inside)).flatMap((entry) => {
    const place = path.join(inside, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, place);
    return entry.isFile() ? [place] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
