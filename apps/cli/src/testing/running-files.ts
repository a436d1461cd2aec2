import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

/** The test files that run now, recorded in a file that survives a killed run. */
export type RunningFiles = { started(file: string): void; ended(file: string): void };

type Noted = { pid: number; files: string[] };

export function createRunningFiles(note: string, pid = process.pid): RunningFiles {
  const files = new Set<string>();
  const write = () => {
    try {
      mkdirSync(path.dirname(note), { recursive: true });
      writeFileSync(note, JSON.stringify({ pid, files: [...files] } satisfies Noted));
    } catch {
      // When the folder cannot be written, the tests run all the same, but a killed run leaves no record.
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

/** Records of earlier runs, except those still running. */
export function earlierWords(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : [];
  return names.flatMap((name) => lastWords(path.join(folder, name)));
}

const prefix = 'running-tests-';
export const noteIn = (folder: string, pid = process.pid): string => path.join(folder, `${prefix}${pid}.json`);

/** What a killed run was doing, for a person; empty when it ended normally or is still running. Removes the record. */
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
