import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { leanNode } from '@svc/supervisor/child-spec.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { fixtures } from './open-manager.ts';

/** A manager as a process of its own, with the tests' connector types, and real children. */
export type ManagerProcess = {
  dataDir: string;
  pid: number;
  call<T>(method: string, url: string, body?: object): Promise<T>;
  stop(): Promise<void>;
};

export async function startManagerProcess({ prepare }: { prepare?: (dataDir: string) => void } = {}): Promise<ManagerProcess> {
  const folder = temporaryFolder();
  prepare?.(folder.path);
  const [port = 0] = await freePorts(1);
  const env = {
    ...process.env,
    SVC_DATA_DIR: folder.path,
    SVC_MANAGER_PORT: String(port),
    SVC_LOG_LEVEL: 'error',
    SVC_COMPAT_PORT: '0',
  };
  const child = fork(path.join(fixtures, 'kit-main.ts'), {
    env,
    execArgv: leanNode,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return {
    dataDir: folder.path,
    pid: child.pid ?? 0,
    async call<T>(method: string, url: string, body?: object): Promise<T> {
      return (await requestJson<T>(`http://127.0.0.1:${port}${url}`, { method, body, timeoutMs: 15_000 })).body;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      folder.remove();
    },
  };
}

export const memoryMib = ({ pid }: ManagerProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const quantile = (values: number[], q: number) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? 0;

/** Sends through an instance, one after the other, until it is over; gives how long each took, ms, and what went wrong. */
export async function sendUntil(manager: ManagerProcess, id: string, isOver: () => boolean) {
  const [times, failures, memory]: [number[], unknown[], number[]] = [[], [], []];
  while (!isOver()) {
    const from = performance.now();
    const answer = await manager.call<{ delivered?: boolean }>('POST', '/send', { instance_id: id, target: 'b1', text: 'x' });
    times.push(performance.now() - from);
    if (answer.delivered !== true) failures.push(answer);
    memory.push(memoryMib(manager));
  }
  const half = Math.ceil(memory.length / 2);
  /** Memory of the manager in the first and in the second half. */
  const peaks = [memory.slice(0, half), memory.slice(half)].map((part) => Math.max(...part));
  return { failures, p50: quantile(times, 0.5), p99: quantile(times, 0.99), count: times.length, peaks };
}
