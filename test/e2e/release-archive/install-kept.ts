import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { linkTree } from '../../../apps/cli/src/update/link-tree.ts';
import { nodeModulesOf } from '../../../apps/cli/src/update/version-folder.ts';
import { runNpm } from '../../../scripts/release/stage-release.ts';

const place = path.resolve(import.meta.dirname, '../../../.cache/release');
const keptMs = 24 * 3600_000;

/** Installs as a release does, which is half of the work of making one; what npm has made of the same lock is taken for a day. */
export function installKept(folder: string, args: readonly string[]): void {
  const lock = path.join(folder, 'package-lock.json');
  const digest = createHash('sha256').update(readFileSync(lock)).update(args.join(' ')).digest('hex');
  const kept = path.join(place, digest.slice(0, 16));
  if (Date.now() - (statSync(kept, { throwIfNoEntry: false })?.birthtimeMs ?? 0) < keptMs) return link(kept, folder, lock);
  runNpm(folder, args);
  rmSync(kept, { recursive: true, force: true });
  const staged = `${kept}.${process.pid}`;
  link(folder, staged, lock);
  try {
    renameSync(staged, kept);
  } catch {
    rmSync(staged, { recursive: true }); // another run has kept its own meanwhile
  }
}

function link(from: string, to: string, lock: string): void {
  for (const installed of nodeModulesOf(lock).filter((name) => existsSync(path.join(from, name))))
    linkTree(path.join(from, installed), path.join(to, installed));
}
