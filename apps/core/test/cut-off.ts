import { copyFileSync, cpSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import type { EngineScript } from '@svc/testing/scripted-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { SendToChannel } from '../src/delivery/channel-sender.ts';

/**
 * Ends a core inside a living process as if its process were killed: its timers never fire again, its engine is not
 * called, its pushes never leave, nothing more is stored. Its code may run on; nothing that it does is noticed.
 */
export function createCutOff() {
  let isOver = false;

  return {
    clock: (clock: Clock): Clock => ({
      now: clock.now,
      elapsed: clock.elapsed,
      after: (ms, fn) => clock.after(ms, () => isOver || fn()),
      every: (ms, fn) => clock.every(ms, () => isOver || fn()),
    }),

    send:
      (send: SendToChannel): SendToChannel =>
      async (message) => {
        if (isOver) return never();
        const outcome = await send(message);
        return isOver ? never() : outcome;
      },

    script: (script: EngineScript): EngineScript =>
      async function* (request, signal) {
        if (isOver) await never();
        yield* script(request, signal);
      },

    /** Gives a folder with what a killed process would have left, and frees what this one holds. */
    now(db: SqliteDatabase, folder: string): { left: string; closed: Promise<void> } {
      isOver = true;
      const left = copyFiles(folder);
      const closed = db.close();
      for (const name of Object.keys(db)) if (name !== 'raw') Object.assign(db, { [name]: never });
      return { left, closed };
    },
  };
}

const never = () => new Promise<never>(() => undefined);

const keptFolders = new Set(['uploads', 'instances']);

/** The files of a folder as they are in this moment. */
function copyFiles(folder: string): string {
  const copy = temporaryFolder().path;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile()) copyFileSync(path.join(folder, entry.name), path.join(copy, entry.name));
    else if (keptFolders.has(entry.name)) cpSync(path.join(folder, entry.name), path.join(copy, entry.name), { recursive: true });
  }
  return copy;
}
