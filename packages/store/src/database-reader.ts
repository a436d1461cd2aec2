import { execFile } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'check-database-process.ts');

/** `immutable`: no process has the files open, and no file beside them is touched. `reader`: the program that reads them. */
export type ReadOptions = { timeoutMs: number; immutable?: boolean; signal?: AbortSignal; reader?: string };

/** A process that was started ahead of time to read databases. */
export type StartedReader = {
  /** Call it once. Resolves with the results for the files, in order. */
  read(files: readonly string[]): Promise<string>;
  /** Ends it when there is nothing to read. */
  end(): void;
};

/** The results of the process for the files, in order. Rejects like `execFile`. */
export const readByProcess = async (files: readonly string[], options: ReadOptions): Promise<string> =>
  (await start(files, options)).stdout;

/** Starts the process before the files are known, because its start takes longer than reading small files. It ends with this process. */
export function startReader(options: ReadOptions): StartedReader {
  const reading = start(['-'], options);
  reading.catch(() => undefined); // `read` rejects with it
  const { stdin } = reading.child;
  stdin?.on('error', () => undefined); // it has ended, and its exit explains why
  return {
    read: async (files) => {
      stdin?.end(files.join('\0'));
      return (await reading).stdout;
    },
    end: () => void stdin?.end(),
  };
}

function start(files: readonly string[], { timeoutMs, immutable = false, signal, reader = program }: ReadOptions) {
  // It ends before additional threads would be of use.
  const args = ['--max-old-space-size=256', '--v8-pool-size=1', reader, immutable ? 'immutable' : 'shared', ...files];
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', signal } as const;
  return run(process.execPath, args, { ...limits, env: compileCache() });
}

/** Passes Node's compile cache on: without it the start takes longer than reading a small file. */
function compileCache(): Record<string, string> {
  // The folder of this Node version is below the configured one.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) };
}
