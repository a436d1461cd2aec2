import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const repositoryRoot = path.resolve(import.meta.dirname, '../../..');
const usedByWrapper = ['sh', 'cmp', 'mkdir', 'readlink', 'cp', 'mv', 'rm', 'date', 'sleep', 'grep', 'tail', 'sed', 'uname'];
/** For the stubs. */
const usedByStubs = ['ln'];

let tools: string[] | undefined;
/** The paths of these programs, looked up once for all trees. */
function toolPaths(): string[] {
  const script = 'for name; do command -v "$name"; done';
  tools ??= execFileSync('/bin/sh', ['-c', script, 'sh', ...usedByWrapper, ...usedByStubs], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return tools;
}

export type Run = { code: number; stdout: string; stderr: string };
type RunOptions = { program?: string; cwd?: string; env?: Record<string, string>; uid?: number };

/**
 * A clone with the real `svc` and next to nothing else, in a folder with spaces, and a `PATH` of its own that holds a
 * stub of npm, by default no Node, and the few system programs that `svc` may use.
 */
export type WrapperTree = {
  folder: string;
  /** The clone in it. */
  root: string;
  /** The only folder of its `PATH`. */
  bin: string;
  svc: string;
  env: Record<string, string>;
  /** A path in the clone. */
  file(...parts: string[]): string;
  /** Puts a program of a shell script on the `PATH`. */
  program(name: string, text: string): void;
  /** Each call of npm: where and with what. */
  calls(): string[];
  /** npm notes the call, runs `steps`, then makes what its real counterpart would. */
  npm(steps?: string, providedNode?: string): void;
  run(args: string[], options?: RunOptions): Promise<Run>;
  spawn(args: string[]): ChildProcess;
  remove(): void;
};

export function createWrapperTree(): WrapperTree {
  const { path: temporary, remove } = temporaryFolder();
  const folder = path.join(temporary, 'svc wrapper');
  mkdirSync(folder);
  const root = path.join(folder, 'my clone');
  const bin = path.join(folder, 'bin');
  const file = (...parts: string[]) => path.join(root, ...parts);
  for (const dir of [bin, file('runtime'), file('apps/cli/src')]) mkdirSync(dir, { recursive: true });
  copyFileSync(path.join(repositoryRoot, 'svc'), file('svc'));
  writeFileSync(file('package.json'), '{ "type": "module" }');
  writeFileSync(file('package-lock.json'), '{ "lock": 1 }');
  writeFileSync(file('runtime/package.json'), '{}');
  writeFileSync(file('runtime/package-lock.json'), '{}');
  writeFileSync(
    file('apps/cli/src/main.ts'),
    'console.log(JSON.stringify({ args: process.argv.slice(2), node: process.execPath, cache: process.env.NODE_COMPILE_CACHE, form: process.env.NODE_COMPILE_CACHE_PORTABLE }));',
  );
  for (const tool of toolPaths()) symlinkSync(tool, path.join(bin, path.basename(tool)));

  const program = (name: string, text: string) => {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  };
  const env = { PATH: bin, HOME: folder };
  const svc = file('svc');
  return {
    folder,
    root,
    bin,
    file,
    program,
    svc,
    env,
    calls: () =>
      existsSync(path.join(folder, 'calls')) ? readFileSync(path.join(folder, 'calls'), 'utf8').trim().split('\n') : [],
    npm(steps = '', providedNode = process.execPath) {
      program(
        'npm',
        `printf '%s: %s\\n' "\${PWD##*/}" "$*" >>'${folder}/calls'
${steps}
rm -rf node_modules; mkdir -p node_modules/.bin
case "$PWD" in */.runtime) ln -s '${providedNode}' node_modules/.bin/node ;; esac`,
      );
    },
    run: (args: string[], { program: which = svc, cwd = '/', env: more = {}, uid }: RunOptions = {}): Promise<Run> =>
      new Promise((resolve) => {
        const child = execFile(which, args, { cwd, env: { ...env, ...more }, uid, timeout: 30_000 }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
        );
        child.stdin?.end();
      }),
    spawn: (args: string[]): ChildProcess => spawn(svc, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] }),
    remove,
  };
}
