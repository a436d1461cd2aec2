import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A disk whose power can be cut: data that was not synced by then is lost. */
export type LossyDisk = {
  folder: string;
  /** Syncs everything that was written so far. */
  sync(): void;
  /**
   * Cuts the power: nothing is written any more, as for a file system that the kernel has shut down. Its processes must be stopped before, as a power
   * failure stops the processor: Linux reports a sync that began before as done, though what it was for is lost (69 of 259 tries).
   */
  cutPower(): void;
  /** Mounts the disk again in its state at the power cut. Processes that still use it are killed. */
  restore(): Promise<void>;
  remove(): Promise<void>;
};

/** `commit=1` writes names within a second; `noauto_da_alloc` lets an unsynced file lose its contents even after a rename. */
const options = 'loop,noauto_da_alloc,commit=1';
/** FS_IOC_SHUTDOWN, without writing the journal. Node has no ioctl(2); perl is a part of Debian that cannot be removed. */
const shutdown = 'open(my $f, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($f, 0x8004587D, $how) or die $!;';

/** Mounts an ext4 of its own. Returns the reason where it cannot: it needs root on Linux. */
export function mountLossyDisk(megabytes: number): LossyDisk | string {
  const own = temporaryFolder();
  const [image, folder] = [path.join(own.path, 'image'), path.join(own.path, 'disk')];
  mkdirSync(folder);
  const mount = () => execFileSync('mount', ['-o', options, image, folder], { stdio: 'pipe' });
  try {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 2 ** 20);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image], { stdio: 'pipe' });
    mount();
  } catch (error) {
    own.remove();
    return `no disk can be mounted here: ${(error as Error).message.split('\n').at(-2) ?? ''}`;
  }
  const unmount = async (): Promise<void> => {
    for (let left = 600; ; left -= 1) {
      try {
        return void execFileSync('umount', [folder], { stdio: 'pipe' });
      } catch (error) {
        if (left === 0) throw error;
        for (const pid of usersOf(folder)) signalIfThere(pid, 'SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  return {
    folder,
    sync: () => void execFileSync('sync', ['-f', folder]),
    cutPower: () => void execFileSync('perl', ['-e', shutdown, folder], { stdio: 'pipe' }),
    async restore() {
      await unmount();
      mount();
    },
    async remove() {
      await unmount();
      rmSync(own.path, { recursive: true, force: true });
    },
  };
}

/** Processes that were started from the disk or work in it. */
function usersOf(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const isUser = ['cwd', 'exe'].some(
      (link) => linkOf(`/proc/${name}/${link}`).startsWith(`${folder}/`) || linkOf(`/proc/${name}/${link}`) === folder,
    );
    return isUser ? [Number(name)] : [];
  });
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // gone, or a thread of the kernel
  }
}
