import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

/** Which test files run now, kept in a file that outlives whatever ends the run. */
export type RunningFiles = { started(file: string): void; ended(file: string): void };

type Noted = { pid: number; files: string[] };

export function createRunningFiles(note: string, pid = process.pid): RunningFiles {
  const files = new Set<string>();
  const write = () => {
    try {
      mkdirSync(path.dirname(note), { recursive: true });
      writeFileSync(note, JSON.stringify({ pid, files: [...files] } satisfies Noted));
    } catch {
      // A folder that cannot be written: the tests run all the same, and nothing is known should they die.
    }
  };
  return {
    started(file) {
      files.add(file);
      write();
    },
    ended(file) {
      files.delete(file);
      write();
    },
  };
}

/** What runs before this one left, the notes of those that go on excepted. */
export function earlierWords(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : [];
  return names.flatMap((name) => lastWords(path.join(folder, name)));
}

const prefix = 'running-tests-';
export const noteIn = (folder: string, pid = process.pid): string => path.join(folder, `${prefix}${pid}.json`);

/** What a run that died was at, for a person; nothing when it ended in order or still goes on. The note is gone then. */
export function lastWords(note: string, isOver: (pid: number) => boolean = (pid) => !isAlive(pid)): string[] {
  const noted = read(note);
  if (noted === null || !isOver(noted.pid)) return [];
  rmSync(note, { force: true });
  if (noted.files.length === 0) return [];
  return [
    noted.files.length === 1
      ? 'A run of the tests died while this file ran:'
      : 'A run of the tests died while these files ran; one of them may have ended it:',
    ...noted.files.map((file) => `  ./svc test '${file}'`),
  ];
}

function read(note: string): Noted | null {
  try {
    return JSON.parse(readFileSync(note, 'utf8')) as Noted;
  } catch {
    return null; // no run, or one that was cut while it wrote
  }
}
