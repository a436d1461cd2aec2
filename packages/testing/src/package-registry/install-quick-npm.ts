import { chmodSync, copyFileSync } from 'node:fs';
import path from 'node:path';

/** Puts an `npm` into a folder for `PATH` that does what the installer of engines needs, for tests that are not about npm: npm itself takes half a second of CPU for each command. */
export function installQuickNpm(folder: string): void {
  const file = path.join(folder, 'npm');
  copyFileSync(path.join(import.meta.dirname, 'quick-npm.mjs'), file);
  chmodSync(file, 0o755);
}
