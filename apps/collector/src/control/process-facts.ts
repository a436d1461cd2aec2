import { stat } from 'node:fs/promises';
import { askPs } from '@svc/service-kit/process/ask-ps.ts';
import { readProcStat } from '@svc/service-kit/process/proc-stat.ts';
import { conflict } from '@svc/service-kit/service-error.ts';

/** Identifies a process, as opposed to a later one with the same pid. */
export type ProcessFacts = { pid: number; parent: number; user: number; startedAt: string };

/** Null when there is no such process. */
export type ReadProcess = (pid: number) => Promise<ProcessFacts | null>;

export const readProcess: ReadProcess = (pid) => (process.platform === 'linux' ? readProc(pid) : readPs(pid));

async function readProc(pid: number): Promise<ProcessFacts | null> {
  try {
    const [{ state, parent, startedAt }, { uid }] = await Promise.all([readProcStat(pid), stat(`/proc/${pid}`)]);
    return state === 'Z' ? null : { pid, parent, user: uid, startedAt };
  } catch {
    return null; // it is gone
  }
}

async function readPs(pid: number): Promise<ProcessFacts | null> {
  const [, parent, user, startedAt] = /^(\d+)\s+(\d+)\s+(.+)$/.exec(await askPs('ppid=,uid=,lstart=', pid)) ?? [];
  return startedAt === undefined ? null : { pid, parent: Number(parent), user: Number(user), startedAt };
}

/** Throws `conflict` unless the process is a child of `parent` and of this user, so that it may be ended. */
export async function ownProcess(pid: number, parent: number, read: ReadProcess = readProcess): Promise<ProcessFacts> {
  const facts = Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid && pid !== process.ppid ? await read(pid) : null;
  if (facts === null) throw conflict('There is no process to end.');
  const isOurs = facts.parent === parent && parent > 1 && facts.user === process.getuid?.();
  if (!isOurs) throw conflict(`Process ${pid} is not the one that was started for this, so it was not ended.`);
  return facts;
}

/** Throws `conflict` unless the process that was found is still there. Its parent may have ended meanwhile, or before. */
export async function sameProcess(found: ProcessFacts, read: ReadProcess = readProcess): Promise<ProcessFacts> {
  const facts = await read(found.pid);
  if (!isSame(found, facts)) throw conflict('There is no process to end.');
  if (facts?.user !== process.getuid?.()) throw conflict(`Process ${found.pid} is not one of this user, so it was not ended.`);
  return found;
}

export const isSame = (a: ProcessFacts, b: ProcessFacts | null): boolean =>
  b !== null && a.pid === b.pid && a.startedAt === b.startedAt;
