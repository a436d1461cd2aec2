import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { VersionInfo } from '@svc/contract/service.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ChildSpec } from '@svc/supervisor/child-spec.ts';
import { spawnChild, type Spawn } from '@svc/supervisor/spawn-child.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';

/** A connector no longer waits for a module that takes longer to load: it is compiled when the connector starts. */
const limitMs = 10_000;
const compileEntry = fileURLToPath(import.meta.resolve('@svc/connector-kit/compile-main.ts'));

/**
 * Fills the compile cache of a connector type before its first process starts, once for each version of its code. A
 * process that compiles by itself takes longer to start and holds twice as much memory for as long as it lives.
 */
export type CompileCache = {
  /** Never rejects: without it a start is only slower. `spec`: that of the process to start. */
  fill(type: ConnectorType, spec: Pick<ChildSpec, 'execArgv' | 'heapMb' | 'env' | 'cwd'>): Promise<void>;
};

type Deps = { version: Pick<VersionInfo, 'version' | 'sha' | 'node'>; log: Pick<Log, 'warn'>; spawn?: Spawn };

export function createCompileCache({ version, log, spawn = spawnChild }: Deps): CompileCache {
  /** The code that was compiled by this manager or found compiled, by the cache's folder. */
  const filled = new Map<string, { mark: string; done: Promise<void> }>();

  const compile = async (type: ConnectorType, spec: Partial<ChildSpec>, stamp: string, mark: string): Promise<void> => {
    const fault = await run(spawn, { ...spec, env: spec.env ?? {}, args: [type.entry] });
    try {
      if (fault === null) writeFileAtomic(stamp, mark);
      else
        log.warn(
          { type: type.meta.type, fault },
          'the code of a connector type could not be compiled in advance, so its first start takes longer',
        );
    } catch (error) {
      log.warn({ type: type.meta.type, fault: errorText(error) }, 'the compile cache cannot be written');
    }
  };

  return {
    async fill(type, spec) {
      const dir = spec.env['NODE_COMPILE_CACHE'];
      if (dir === undefined) return;
      const mark = markOf(type, version);
      const known = filled.get(dir);
      if (known?.mark === mark) return known.done;
      const stamp = path.join(dir, 'compiled');
      const done = readStamp(stamp) === mark ? Promise.resolve() : compile(type, spec, stamp, mark);
      filled.set(dir, { mark, done });
      return done;
    },
  };
}

/** Changes with the service, the Node that compiles, and an update of an added type. */
function markOf({ entry, folder }: ConnectorType, { version, sha, node }: Deps['version']): string {
  const times = [entry, path.dirname(entry), folder].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return [version, sha, node, entry, ...times].join('\n');
}

function readStamp(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // not compiled yet, or it cannot be known: then it is compiled again
  }
}

/** Why it failed; null if it succeeded. */
const run = (spawn: Spawn, spec: Pick<ChildSpec, 'env'> & Partial<ChildSpec>): Promise<string | null> =>
  new Promise((resolve) => {
    const child = spawn(
      { ...spec, name: 'compile', entry: compileEntry, startTimeoutMs: limitMs, stopTimeoutMs: 0 },
      {
        onMessage: () => undefined,
        onOutput: () => undefined,
        onExit({ code, signal, error }) {
          clearTimeout(timer);
          resolve(code === 0 ? null : (error ?? signal ?? `exit code ${code}`));
        },
      },
    );
    const timer = setTimeout(() => child.killGroup(), limitMs);
  });
