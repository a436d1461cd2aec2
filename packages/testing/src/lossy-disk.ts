import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A disk whose power can be cut: what nobody has brought to it by then is gone. */
export type LossyDisk = {
  folder: string;
  /** Brings all that was written so far to it. */
  sync(): void;
  /**
   * From now on nothing is written any more, as the kernel has it for a file system that is shut down. Its processes are to be stopped before, as a power
   * failure stops the processor: Linux reports a sync that began before as done, though what it was for is lost (69 of 259 tries).
   */
  cutPower(): void;
  /** Has the disk back as it was when its power was cut. Processes that still use it are ended. */
  restore(): Promise<void>;
  remove(): Promise<void>;
};

/** Names come to the disk within a second, contents when a program asks for it: nothing that is put in place unwritten is spared, as ext4 does unless told. */
const options = 'loop,noauto_da_alloc,commit=1';
/** FS_IOC_SHUTDOWN, without writing the journal. Node has no ioctl(2); perl is a part of Debian that cannot be removed. */
const shutdown = 'open(my $f, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($f, 0x8004587D, $how) or die $!;';

/** Mounts an ext4 of its own. Gives why not where this machine does not let us: only root of Linux may. */
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
