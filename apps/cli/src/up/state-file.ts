import { closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { SupervisorState } from '@svc/contract/service.ts';
import { namesIn, writeFileAtomic } from '@svc/service-kit/files.ts';
import { printError } from '../terminal.ts';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

export type StateFile = {
  /** Writes the result of `snapshot`, once for all changes of the current tick. */
  changed(): void;
  /** Writes it at once. */
  write(): void;
  remove(): void;
};

/** `run/supervisor.json`: the running processes, for any reader. It exists exactly while a supervisor runs. */
export function createStateFile(file: string, snapshot: () => SupervisorState): StateFile {
  removeDrafts(file);
  let due = false;
  let removed = false;
  let fault: string | null = null;
  const writeNow = (): void => {
    if (!removed) fault = write(file, snapshot(), fault);
  };
  return {
    changed() {
      if (due) return;
      due = true;
      setImmediate(() => {
        due = false;
        writeNow();
      });
    },
    write: writeNow,
    remove() {
      removed = true;
      rmSync(file, { force: true });
    },
  };
}

/** Removes files of supervisors that were killed while writing; no other supervisor can run now. */
function removeDrafts(file: string): void {
  const [folder, name] = [path.dirname(file), path.basename(file)];
  for (const each of namesIn(folder))
    if (each.startsWith(`${name}.`) && each.endsWith('.tmp')) rmSync(path.join(folder, each), { force: true });
}

/** Room for any state, so that a newer one fits into the file's blocks. */
const fileBytes = 16 * 1024;

/** When it cannot be written, readers see an older state and the processes keep running. Reported once; returns the fault. */
function write(file: string, state: SupervisorState, before: string | null): string | null {
  try {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    save(file, text + ' '.repeat(Math.max(0, fileBytes - Buffer.byteLength(text))));
    return null;
  } catch (error) {
    const { message } = error as Error;
    if (message !== before) printError(`The state for ./svc status cannot be written: ${message}`);
    return message;
  }
}

/** Overwrites the existing file, because a full disk has no room for another: processes may end just then, and their state is needed. */
function save(file: string, text: string): void {
  try {
    writeFileAtomic(file, text);
  } catch (error) {
    if (!fullDisk.has((error as NodeJS.ErrnoException).code ?? '') || !existsSync(file)) throw error;
    const fd = openSync(file, 'r+');
    try {
      if (fstatSync(fd).size < Buffer.byteLength(text)) throw error;
      writeSync(fd, text, 0);
    } finally {
      closeSync(fd);
    }
  }
}

const fullDisk = new Set(['ENOSPC', 'EDQUOT']);

/** The state of the running supervisor; null when there is none, also when a killed one left its file. */
export function readSupervisorState(file: string): SupervisorState | null {
  const state = readLastState(file);
  return state !== null && isRunning(state) ? state : null;
}

/** Another process may have its pid by now, especially after a restart of the machine. */
export const isRunning = ({ pid, born }: Pick<SupervisorState, 'pid' | 'born'>): boolean =>
  isAlive(pid) && (born == null || birthMark(pid) === born);

/** The content of the file, whether its writer still runs or not. */
export function readLastState(file: string): SupervisorState | null {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as SupervisorState;
    return Number.isInteger(state.pid) && Array.isArray(state.services) ? state : null;
  } catch {
    return null; // not there, not ours, or cut by a full disk: the same as none
  }
}
