import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';

/**
 * Records the children of a parent in a file, so that the next parent can end those that a killed one left behind. Children
 * exit by themselves when their parent has ended; this is for a child that hangs or is suspended.
 */
export type PidFile = {
  /** Records the process that now runs under `name`; null for none. */
  note(name: string, pid: number | null): void;
  /** Gives the children of an earlier parent `graceMs` to end, then kills them. Resolves with the names of those killed. */
  reap(graceMs: number): Promise<string[]>;
};

type Entry = { pid: number; born: string };

export function createPidFile(file: string): PidFile {
  const children = new Map<string, Entry>();
  return {
    note(name, pid) {
      if (children.get(name)?.pid === pid || (pid === null && !children.has(name))) return;
      const born = pid === null ? null : birthMark(pid);
      if (pid === null || born === null) children.delete(name);
      else children.set(name, { pid, born });
      writeFileAtomic(file, JSON.stringify(Object.fromEntries(children)));
    },
    async reap(graceMs) {
      const left = readEntries(file).filter(([name]) => !children.has(name));
      await waitUntil(() => !left.some(([, entry]) => isSame(entry)), graceMs);
      const hung = left.filter(([, entry]) => isSame(entry));
      for (const [, { pid }] of hung) killGroup(pid);
      return hung.map(([name]) => name);
    },
  };
}

const isSame = ({ pid, born }: Entry): boolean => birthMark(pid) === born;

function readEntries(file: string): [string, Entry][] {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Partial<Entry> | null>);
    return entries.flatMap(([name, entry]) => (isEntry(entry) ? [[name, entry] as [string, Entry]] : []));
  } catch {
    return []; // first start, or a foreign file: there is nothing to end
  }
}

const isEntry = (entry: Partial<Entry> | null): entry is Entry =>
  typeof entry?.pid === 'number' && entry.pid > 1 && typeof entry.born === 'string';

async function waitUntil(is: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; !is() && performance.now() < end;) await sleep(20);
}
