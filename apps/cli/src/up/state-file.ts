import { readFileSync, rmSync } from 'node:fs';
import type { SupervisorState } from '@svc/contract/service.ts';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { isAlive } from './is-alive.ts';

export type StateFile = {
  /** Writes what `snapshot` gives, once for all changes of the current tick. */
  changed(): void;
  remove(): void;
};

/** `run/supervisor.json`: what runs, for anyone who asks. It is there exactly while a supervisor is. */
export function createStateFile(file: string, snapshot: () => SupervisorState): StateFile {
  let due = false;
  let removed = false;
  return {
    changed() {
      if (due) return;
      due = true;
      setImmediate(() => {
        due = false;
        if (!removed) writeFileAtomic(file, `${JSON.stringify(snapshot(), null, 2)}\n`);
      });
    },
    remove() {
      removed = true;
      rmSync(file, { force: true });
    },
  };
}

/** The state of the running supervisor; null when there is none, also when one was killed and left its file. */
export function readSupervisorState(file: string): SupervisorState | null {
  const state = readLastState(file);
  return state !== null && isAlive(state.pid) ? state : null;
}

/** What the file says, whether or not its writer is still there. */
export function readLastState(file: string): SupervisorState | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return parseState(text);
}

function parseState(text: string): SupervisorState | null {
  try {
    const state = JSON.parse(text) as SupervisorState;
    return Number.isInteger(state.pid) && Array.isArray(state.services) ? state : null;
  } catch {
    return null; // not ours, or cut by a full disk: the same as none
  }
}
