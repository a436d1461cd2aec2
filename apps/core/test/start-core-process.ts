import { spawn } from 'node:child_process';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { waitFor } from '@svc/testing/house.ts';

/** A data folder that goes with its test. */
export function dataDir(): string {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

/** A core in a process of its own, as the supervisor starts it. It ends with its test. */
export async function startCoreProcess(dir: string, env: Record<string, string> = {}) {
  const [core, manager, collector] = (await freePorts(3)) as [number, number, number];
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/core/src/main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATA_DIR: dir,
      SVC_CORE_PORT: String(core),
      SVC_MANAGER_PORT: String(manager),
      SVC_COLLECTOR_PORT: String(collector),
      SVC_DEFAULT_ENGINE: 'offline',
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${core}`;
  const ready = () =>
    waitFor(
      () => output.includes('core is ready'),
      20_000,
      () => `the core is not up:\n${output}`,
      exited,
    );
  return { port: core, url, child, exited, ready, output: () => output };
}
