import { chmodSync, lstatSync, rmSync, type BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { makeSocketFolder } from '@svc/service-kit/socket-folder.ts';

export type LinkSocket = {
  /** Why no connector can connect; null while they can. */
  fault(): string | null;
  /** Call this before the server is closed. */
  stop(): void;
};

type Deps = { clock: Pick<Clock, 'every'>; log: Pick<Log, 'warn' | 'error'> };

/** How often the file is checked: much more often than a connector gives up waiting for it. */
const lookMs = 2000;

/**
 * Has a server listen on a unix socket, in a folder that only this user can enter. A socket file that is removed, replaced or given
 * other permissions meanwhile is created again: open links would survive, but no connector could reconnect.
 */
export async function listenOnSocket(server: Server, file: string, { clock, log }: Deps): Promise<LinkSocket> {
  let own = await bind(server, file);
  let fault: string | null = null;
  let isLooking = false;
  let isStopped = false;

  const look = async (): Promise<void> => {
    const found = await lstat(file, { bigint: true }).catch(() => null);
    if (isStopped || (found !== null && isSame(found, own))) return;
    if (fault === null) log.warn({ file }, 'the socket of the connector link was changed or removed; it is created again');
    try {
      server.close(); // stops listening, and removes what has its name
      own = await bind(server, file);
      fault = null;
    } catch (error) {
      const found = `connectors cannot reach the core: ${file} cannot be made (${errorText(error)})`;
      if (found !== fault) log.error(found);
      fault = found;
    }
  };
  const stop = clock.every(lookMs, () => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  });
  return {
    fault: () => fault,
    stop() {
      isStopped = true;
      stop();
    },
  };
}

/** Removes what a killed process has left under the name. Returns the stats of the new file. */
async function bind(server: Server, file: string): Promise<BigIntStats> {
  makeSocketFolder(path.dirname(file));
  rmSync(file, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, () => {
      server.off('error', reject);
      resolve();
    });
  });
  chmodSync(file, 0o600);
  return lstatSync(file, { bigint: true });
}

/** An inode number may be reused by the next file. With other permissions, connectors could be locked out, or others let in. */
const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino && one.birthtimeNs === other.birthtimeNs && one.mode === other.mode;
