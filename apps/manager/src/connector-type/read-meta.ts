import path from 'node:path';
import { pickEnv, leanNode } from '@svc/supervisor/child-spec.ts';
import { spawnChild } from '@svc/supervisor/spawn-child.ts';
import { checkLinks } from './check-links.ts';
import { addedPlaces, kitPlaces } from './places.ts';
import { permissionFlags } from './permission-flags.ts';

const limitMs = 5000;
const nothing = { write: [], allow: [], network: false };

/**
 * The `meta` of an added module, read in a separate process: a module that exits, never finishes or misbehaves affects
 * nothing else, and it can read only its own code. Rejects with the reason.
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
          // The module may send anything, including null.
          const { meta, error } = (message ?? {}) as { meta?: unknown; error?: unknown };
          if (error === undefined) resolve(meta);
          else reject(new Error(typeof error === 'string' ? error : 'it sent an invalid error'));
          child.killGroup();
        },
        onOutput: () => undefined,
        onExit({ code, signal, error }) {
          clearTimeout(timer);
          reject(new Error(`its process ended while it was loaded (${error ?? signal ?? `exit code ${code}`})`));
        },
      },
    );
    const timer = setTimeout(() => {
      reject(new Error(`loading ${file} took longer than ${limitMs / 1000} s`));
      child.killGroup();
    }, limitMs);
  });
}
