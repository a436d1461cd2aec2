import { readFileSync, statSync } from 'node:fs';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { problem, type Finding } from './finding.ts';

/** The pid of whoever is noted as supervisor; null for nobody. */
type Noted = { pid: number } | null;

/**
 * Whether the supervisor that works on the data folder is the one that is noted there. Asked of the kernel without taking the lock: a start at
 * this moment would think that another one runs. Linux only.
 */
export function examineSupervisor(dataDir: string, noted: Noted): Finding[] {
  const { supervisorLock, supervisorState } = dataPaths(dataDir);
  const holder = lockHolder(supervisorLock);
  if (holder === null || holder === noted?.pid || !isAlive(holder)) return [];
  return [
    problem(
      'supervisor',
      `process ${holder} runs the service on this folder, and ${supervisorState} does not say so: nobody knows what runs`,
      `kill ${holder}`,
    ),
  ];
}

/** Who holds a lock on a file, of the processes that can be seen from here. */
function lockHolder(file: string, table = '/proc/locks'): number | null {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  if (inode === undefined) return null;
  for (const line of textOf(table).split('\n')) {
    // 1: POSIX  ADVISORY  WRITE 4711 fd:01:123456 0 EOF
    const [, , , , pid = '', place = ''] = line.split(/\s+/);
    if (place.endsWith(`:${inode}`) && Number(pid) > 1) return Number(pid);
  }
  return null;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // another system
  }
}
