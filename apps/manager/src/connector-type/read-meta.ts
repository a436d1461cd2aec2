import path from 'node:path';
import { pickEnv } from '@svc/supervisor/child-env.ts';
import { spawnChild } from '@svc/supervisor/spawn-child.ts';

const limitMs = 5000;

/**
 * The `meta` of a module that is not ours, read in a process of its own: one that ends its process, never finishes or
 * runs wild harms nobody, and sees neither the manager's memory nor its environment. Rejects with what is wrong.
 */
export function readMeta(file: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawnChild(
      {
        name: 'meta',
        entry: path.join(import.meta.dirname, 'read-meta-main.ts'),
        args: [file],
        env: pickEnv(process.env),
        startTimeoutMs: limitMs,
        stopTimeoutMs: 0,
      },
      {
        onMessage(message) {
          const { meta, error } = message as { meta?: unknown; error?: string };
          if (error === undefined) resolve(meta);
          else reject(new Error(error));
          child.killGroup();
        },
        onOutput: () => undefined,
        onExit({ code, signal, error }) {
          clearTimeout(timer);
          reject(new Error(`it ended while it was loaded (${error ?? signal ?? `exit code ${code}`})`));
        },
      },
    );
    const timer = setTimeout(() => {
      reject(new Error(`loading ${file} took longer than ${limitMs / 1000} s`));
      child.killGroup();
    }, limitMs);
  });
}
