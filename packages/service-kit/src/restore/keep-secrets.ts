import { copyFileSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
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

/** Plain files only, by their place under `folder`. */
function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
