import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const ownEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));

/** A collector in a process of its own; resolves when it says that it is ready. */
export async function startCollectorProcess(
  dataDir: string,
  port: number,
  more: Record<string, string> = {},
): Promise<ChildProcess> {
  const own = { SVC_DATA_DIR: dataDir, SVC_COLLECTOR_PORT: String(port), SVC_LOG_LEVEL: 'error', SVC_TRANSCRIPTS: 'off' };
  const env = { ...ownEnv, ...own, ...more };
  const child = fork(path.join(import.meta.dirname, '../src/main.ts'), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the collector ended with ${code} before it was ready`))),
  ]);
  return child;
}

export const startEmitter = (dir: string, url: string): ChildProcess =>
  fork(path.join(import.meta.dirname, 'fixtures/emitter.ts'), [dir, url], {
    env: ownEnv,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
