import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from './free-ports.ts';
import { startCore } from './spawn-core.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type SvcRun = { code: number | null; out: string; err: string };
export type SvcPlace = { env: Readonly<Record<string, string | undefined>>; cwd?: string; input?: string };

const { NODE_COMPILE_CACHE } = process.env;
/** The setting with which a program finds its compiled code: it starts in a third of the time. */
export const compiledCode: Readonly<Record<string, string>> = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

/** Ends a hanging command before its test does. */
const timeoutMs = 55_000;

/** Runs a command as a person does, with the given input and only the given environment. */
export async function runSvc(args: readonly string[], { env, cwd, input = '' }: SvcPlace): Promise<SvcRun> {
  const main = path.join(repositoryRoot, 'apps/cli/src/main.ts');
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...compiledCode, ...env },
    cwd,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => undefined); // one that reads nothing may have ended by then
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

/** A core, and commands that a person types beside it. */
export type CliCore = {
  /** Its data folder. */
  folder: string;
  url: string;
  /** The environment in which a command finds the core. */
  env: SvcPlace['env'];
  svc(args: readonly string[], place?: Partial<SvcPlace>): Promise<SvcRun>;
  close(): Promise<void>;
};

type CliCoreOptions = { home?: string; env?: Record<string, string> };

/** Starts a core in a process of its own, for commands that use it. `home`: the home folder of the person who types them; `env`: settings of the core. */
export async function startCliCore({ home, env: ofCore }: CliCoreOptions = {}): Promise<CliCore> {
  const folder = temporaryFolder();
  const [corePort, manager, collector] = (await freePorts(3)) as [number, number, number];
  const { child, exited } = await startCore(folder.path, { core: corePort, manager, collector }, ofCore);
  const env = {
    ...compiledCode,
    PATH: process.env['PATH'],
    HOME: home ?? folder.path,
    SVC_DATA_DIR: folder.path,
    SVC_CORE_PORT: String(corePort),
  };
  return {
    folder: folder.path,
    url: `http://127.0.0.1:${corePort}`,
    env,
    svc: (args, place = {}) => runSvc(args, { env, ...place }),
    async close() {
      child.kill('SIGKILL');
      await exited;
      folder.remove();
    },
  };
}
