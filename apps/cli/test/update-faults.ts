import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';

/** A disk of its own size in the place of a folder. */
export type SmallDisk = {
  /** Takes all room that is left. */
  fill(): void;
  remove(): void;
};

/** Puts a small disk (tmpfs) in the place of a folder, over what is there. Gives why not where this machine does not let us: only root may. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | string {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'none', folder], { stdio: 'pipe' });
  } catch (error) {
    return `no disk can be mounted here: ${(error as Error).message.split('\n').at(-2) ?? ''}`;
  }
  const filler = path.join(folder, '.filler');
  return {
    fill() {
      const fd = openSync(filler, 'w');
      const block = Buffer.alloc(4096);
      try {
        for (let left = statfsSync(folder).bfree; left >= 0; left -= 1) writeSync(fd, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(fd);
      }
    },
    remove() {
      rmSync(filler, { force: true });
      // Lazily: a process of the service may be in it still.
      execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });
    },
  };
}
