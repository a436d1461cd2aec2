import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { problem, type Finding } from './finding.ts';

/** The pid recorded for the supervisor; null when there is none. */
type Noted = { pid: number } | null;

/**
 * Whether the supervisor that uses the data folder is the recorded one. The kernel is asked without taking the lock: a start at
 * this moment would otherwise see another supervisor. Linux only.
 */
export async function examineSupervisor(dataDir: string, noted: Noted): Promise<Finding[]> {
  const { supervisorLock, supervisorState } = dataPaths(dataDir);
  const inode = statSync(supervisorLock, { throwIfNoEntry: false })?.ino;
  if (inode === undefined || (noted !== null && hasLocked(noted.pid, inode))) return [];
  const holder = await lockHolder(inode);
  if (holder === null || holder === noted?.pid || !isAlive(holder)) return [];
  return [
    problem(
      'supervisor',
      `process ${holder} runs the service on this folder, but ${supervisorState} does not name it, so its state is unknown`,
      `kill ${holder}`,
    ),
  ];
}

/** Whether a process of this user holds a lock on a file. */
function hasLocked(pid: number, inode: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/fdinfo`).some((fd) => hasLock(`/proc/${pid}/fdinfo/${fd}`, inode));
  } catch {
    return false; // it has ended, or this is another system
  }
}

/** Reads the lock information of one open file, which may be closed by now. */
function hasLock(file: string, inode: number): boolean {
  try {
    return readFileSync(file, 'latin1')
      .split('\n')
      .some((line) => line.startsWith('lock:') && isOn(line, inode));
  } catch {
    return false;
  }
}

/** The visible process that holds a lock on a file. Reading this table stops all processors for some 20 ms. */
async function lockHolder(inode: number): Promise<number | null> {
  const table = await readFile('/proc/locks', 'latin1').catch(() => ''); // another system
  for (const line of table.split('\n')) {
    // 1: POSIX  ADVISORY  WRITE 4711 fd:01:123456 0 EOF
    const pid = Number(line.split(/\s+/)[4]);
    if (isOn(line, inode) && pid > 1) return pid;
  }
  return null;
}

const isOn = (lock: string, inode: number): boolean => lock.split(/\s+/).some((word) => word.endsWith(`:${inode}`));
