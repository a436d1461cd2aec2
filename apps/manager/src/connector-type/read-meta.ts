import path from 'node:path';
import { pickEnv, leanNode } from '@svc/supervisor/child-spec.ts';
import { spawnChild } from '@svc/supervisor/spawn-child.ts';
import { checkLinks } from './check-links.ts';
import { addedPlaces, kitPlaces } from './places.ts';
import { permissionFlags } from './permission-flags.ts';

const limitMs = 5000;
const nothing = { write: [], allow: [], network: false };

/**
 * The `meta` of a module that is not ours, read in a process of its own: one that ends its process, never finishes or
 * runs wild harms nobody, and sees nothing but its own code. Rejects with what is wrong.
 */
export async function readMeta(file: string, folder: string): Promise<unknown> {
  const places = addedPlaces(folder);
  checkLinks([folder], [...kitPlaces, ...places]);
  return new Promise((resolve, reject) => {
    const child = spawnChild(
      {
        name: 'meta',
        entry: path.join(import.meta.dirname, 'read-meta-main.ts'),
        args: [file],
        execArgv: [...leanNode, ...permissionFlags({ read: [import.meta.dirname, ...kitPlaces, ...places], ...nothing })],
        env: pickEnv({ ...process.env, NODE_COMPILE_CACHE: undefined }),
        startTimeoutMs: limitMs,
        stopTimeoutMs: 0,
      },
      {
        onMessage(message) {
          // The module may send what it likes, also null.
          const { meta, error } = (message ?? {}) as { meta?: unknown; error?: unknown };
          if (error === undefined) resolve(meta);
          else reject(new Error(typeof error === 'string' ? error : 'it sent an error that is not a text'));
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
