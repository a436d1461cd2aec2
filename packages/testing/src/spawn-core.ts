import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { waitFor } from './house.ts';

/** `exited` settles with the exit code. */
export type StartedCore = { child: ChildProcess; exited: Promise<number | null> };

/** Starts a core and waits until it is ready. @throws with its output when it ends or is not ready in 20 s. */
export async function startCore(dir: string, ports: HostPorts, env: Record<string, string> = {}): Promise<StartedCore> {
  const child = spawnCore(dir, ports, env);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const isReady = () => output.includes('core is ready');
  try {
    await waitFor(isReady, 20_000, () => `the core is not up:\n${output}`, exited);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, exited };
}

export type HostPorts = { core: number; manager: number; collector: number };

/** Starts a core in a process of its own, as the supervisor would, with only `PATH` of this machine's environment. */
export const spawnCore = (dir: string, ports: HostPorts, env: Record<string, string> = {}) => spawnHost('core', dir, ports, env);

/** The same for any host process. */
export function spawnHost(name: keyof HostPorts, dir: string, ports: HostPorts, env: Record<string, string> = {}) {
  return spawn(process.execPath, [path.join(repositoryRoot, `apps/${name}/src/main.ts`)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATA_DIR: dir,
      SVC_CORE_PORT: String(ports.core),
      SVC_MANAGER_PORT: String(ports.manager),
      SVC_COLLECTOR_PORT: String(ports.collector),
      SVC_DEFAULT_ENGINE: 'offline',
      SVC_TITLES: 'words', // no request to an engine that a test does not make
      ...env,
    },
  });
}
