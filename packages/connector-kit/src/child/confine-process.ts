import { syncBuiltinESMExports } from 'node:module';
import type { WASIOptions } from 'node:wasi';

type Kill = (pid: number, ...rest: unknown[]) => unknown;

/**
 * Closes what Node's permission model leaves open, before any code of the connector is loaded: signals to other processes (SIGUSR1 opens
 * the debugger of any Node process of the same user, and with it that process), their priority (the core could be starved), V8 flags (some
 * write files anywhere), and the files that WebAssembly may open. Does nothing in an unconfined process, which those of most tests are.
 */
export function confineProcess(host: NodeJS.Process = process): void {
  if (host.permission === undefined) return;
  const { pid } = host;
  // `kill` and the functions it is built on. Some versions of Node lack some of them.
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
    const original: unknown = Reflect.get(host, name);
    if (typeof original !== 'function') continue;
    const kill = original as Kill;
    seal(host, name, (to: number, ...rest: unknown[]) =>
      to === pid ? kill(to, ...rest) : refuse('send signals to other processes'),
    );
  }
  const os = host.getBuiltinModule('node:os');
  const { setPriority } = os;
  seal(os, 'setPriority', (...args: [number, number] | [number]) => {
    const to = args.length > 1 ? args[0] : pid;
    if (to !== pid && to !== 0) refuse('change the priority of other processes');
    return setPriority(0, args.at(-1) ?? 0);
  });
  seal(host.getBuiltinModule('node:v8'), 'setFlagsFromString', () => refuse('V8 flags'));
  if (host.permission.has('wasi')) closeFilesOfWasi(host);
  // For modules that import them by name.
  syncBuiltinESMExports();
}

/**
 * WebAssembly may use the clock and random numbers of WASI, but no files: Node opens those past the permission model. A subclass is not
 * enough, because its prototype leads to the original; so do the internals of Node's own class, through the functions that it passes to a
 * module.
 */
function closeFilesOfWasi(host: NodeJS.Process): void {
  const wasi = host.getBuiltinModule('node:wasi');
  const { WASI: Original } = wasi;
  const native: object = Object.getPrototypeOf(new Original({ version: 'preview1' }).wasiImport);
  seal(native, 'constructor', function refused() {
    refuse('access files through WASI');
  });
  // Copies the fields, so that none comes from a modified prototype.
  const bare = ({ version, args, env, returnOnExit }: WASIOptions) =>
    new Original({
      version,
      args,
      env,
      returnOnExit,
      preopens: undefined,
      stdin: undefined,
      stdout: undefined,
      stderr: undefined,
    });
  const WASI = Object.defineProperty(
    function WASI(options: WASIOptions) {
      return bare(options);
    },
    'prototype',
    { value: Original.prototype, writable: false },
  );
  seal(Original.prototype, 'constructor', WASI);
  seal(wasi, 'WASI', WASI);
}

function seal(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false });
}

function refuse(what: string): never {
  throw Object.assign(new Error(`A connector may not ${what}.`), { code: 'ERR_ACCESS_DENIED' });
}
