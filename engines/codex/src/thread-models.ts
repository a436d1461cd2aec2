import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EngineLog } from '@svc/engine-kit/engine.ts';

/** The model of each thread in its last complete turn. */
export type ThreadModels = {
  /** Null when it is unknown. */
  read(threadId: string): Promise<string | null>;
  /** If it cannot be written, the model counts as unknown. */
  write(threadId: string, model: string): Promise<void>;
  forget(threadId: string): Promise<void>;
};

const maxRemembered = 500;

/** One small file per thread, which like the thread outlives the service. */
export function openThreadModels(dir: string, log: EngineLog): ThreadModels {
  const known = new Map<string, string>();
  const fileOf = (threadId: string) => path.join(dir, encodeURIComponent(threadId));
  const remember = (threadId: string, model: string) => {
    if (known.size >= maxRemembered) known.clear();
    known.set(threadId, model);
  };
  return {
    async read(threadId) {
      const model = known.get(threadId) ?? (await readFile(fileOf(threadId), 'utf8').catch(() => null));
      if (model !== null) remember(threadId, model);
      return model;
    },
    async write(threadId, model) {
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeFile(fileOf(threadId), model, { mode: 0o600 });
        remember(threadId, model);
      } catch (error) {
        log.warn({ err: error }, 'the model of a codex thread could not be saved');
      }
    },
    async forget(threadId) {
      known.delete(threadId);
      await rm(fileOf(threadId), { force: true });
    },
  };
}
