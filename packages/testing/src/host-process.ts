import type { ChildProcess } from 'node:child_process';
import { spawnHost, type HostPorts } from './spawn-core.ts';

/** Runs a host process and restarts it in the same folder and at the same address, as a supervisor would. */
export type HostProcess = {
  /** All processes so far, the current one last. */
  pids: number[];
  /** Starts a process; resolves with true when it is ready, with false when it ended before. */
  start(): Promise<boolean>;
  /** Stops the process; resolves with its exit code, null when it was killed. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Their output about fatal errors. */
  faults(): string;
};

export function createHostProcess(
  name: keyof HostPorts,
  dir: string,
  ports: HostPorts,
  env: Record<string, string>,
): HostProcess {
  const pids: number[] = [];
  let child: ChildProcess | null = null;
  let exited: Promise<number | null> = Promise.resolve(null);
  let faults = '';

  return {
    pids,
    start() {
      const next = spawnHost(name, dir, ports, env);
      child = next;
      pids.push(next.pid ?? 0);
      exited = new Promise((resolve) => next.once('close', (code) => resolve(code)));
      next.stderr.setEncoding('utf8').on('data', (text: string) => (faults += text));
      return new Promise((resolve) => {
        let output = '';
        next.stdout.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-100_000);
          if (/"level":(?:"fatal"|60)/.test(text)) faults += text;
          if (output.includes(`${name} is ready`)) resolve(true);
        });
        next.once('close', () => resolve(false));
      });
    },
    end(signal) {
      child?.kill(signal);
      return exited;
    },
    faults: () => faults,
  };
}
