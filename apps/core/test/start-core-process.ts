import { onTestFinished } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { spawnCore } from '@svc/testing/spawn-core.ts';
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
  const child = spawnCore(dir, { core, manager, collector }, env);
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
