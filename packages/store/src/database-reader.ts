import { execFile } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = path.join(import.meta.dirname, 'check-database-process.ts');

/** `immutable`: nobody has them open, and nothing beside them is touched. `reader`: the program that reads them. */
export type ReadOptions = { timeoutMs: number; immutable?: boolean; signal?: AbortSignal; reader?: string };

/** A process that reads databases as soon as it is told which. */
export type StartedReader = {
  /** To be called once. Resolves with what it says of the files, one after the other. */
  read(files: readonly string[]): Promise<string>;
  /** There is nothing to read. */
  end(): void;
};

/** What the process says of the files, one after the other. Rejects as `execFile` does. */
export const readByProcess = async (files: readonly string[], options: ReadOptions): Promise<string> =>
  (await start(files, options)).stdout;

/** Starts the process before it is known what to read: it takes longer to start than to read small files. It ends with this one. */
export function startReader(options: ReadOptions): StartedReader {
  const reading = start(['-'], options);
  reading.catch(() => undefined); // `read` rejects with it
  const { stdin } = reading.child;
  stdin?.on('error', () => undefined); // it has ended, and its exit says why
  return {
    read: async (files) => {
      stdin?.end(files.join('\0'));
      return (await reading).stdout;
    },
    end: () => void stdin?.end(),
  };
}

function start(files: readonly string[], { timeoutMs, immutable = false, signal, reader = program }: ReadOptions) {
  // It ends before threads beside it would be of use.
  const args = ['--max-old-space-size=256', '--v8-pool-size=1', reader, immutable ? 'immutable' : 'shared', ...files];
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', signal } as const;
  return run(process.execPath, args, { ...limits, env: compileCache() });
}

/** Where Node keeps what it has compiled: without it that process takes longer to start than to read a small file. */
function compileCache(): Record<string, string> {
  // The folder of this very Node is below the one that is set.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) };
}
