import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { spawnCore } from '@svc/testing/spawn-core.ts';

export type CoreProcess = Awaited<ReturnType<typeof createCoreProcess>>;

/** One core after the other in the same folder, at the same address, as a supervisor would start them. */
export async function createCoreProcess(dir: string, managerPort: number, settings: Record<string, string>) {
  const [port, collector] = (await freePorts(2)) as [number, number];
  const runsFile = path.join(dir, 'runs.jsonl');
  const script = path.join(dir, 'script.mjs');
  writeFileSync(script, scriptText(runsFile));
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify(seed));
  writeFileSync(runsFile, '');
  const ports = { core: port, manager: managerPort, collector };
  const env = { SVC_OFFLINE_SCRIPT: script, SVC_MAX_CONCURRENT_TURNS: '8', ...settings };
  const pids: number[] = [];
  let child: ChildProcess | null = null;
  let exited: Promise<number | null> = Promise.resolve(null);
  let faults = '';

  return {
    url: `http://127.0.0.1:${port}`,
    socket: path.join(dir, 'run/core.sock'),
    passKey: path.join(dir, 'connector.key'),
    runsFile,
    pids,

    /** Starts a core; resolves with true when it is ready, with false when it has ended before. */
    start(): Promise<boolean> {
      const next = spawnCore(dir, ports, env);
      child = next;
      pids.push(next.pid ?? 0);
      exited = new Promise((resolve) => next.once('close', (code) => resolve(code)));
      next.stderr.setEncoding('utf8').on('data', (text: string) => (faults += text));
      return new Promise((resolve) => {
        let output = '';
        next.stdout.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-100_000);
          if (/"level":(?:"fatal"|60)/.test(text)) faults += text;
          if (output.includes('core is ready')) resolve(true);
        });
        next.once('close', () => resolve(false));
      });
    },

    /** Ends the core; gives its exit code, null when it was killed. */
    end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
      child?.kill(signal);
      return exited;
    },

    /** What cores said of faults that end a process. */
    faults: () => faults,
  };
}

const seed = {
  principals: [
    { key: 'anna', role: 'trusted', identifiers: ['messenger', 'compat'].map((surface) => ({ surface, value: 'anna' })) },
  ],
};

/** The offline engine's commands; each run is written down before it says anything. */
const scriptText = (runsFile: string) => `
import { appendFileSync } from 'node:fs';
import { findCommand } from ${JSON.stringify(path.join(repositoryRoot, 'engines/offline/src/commands.ts'))};
const running = new Set();
export async function* respond(request, signal) {
  const { conversationKey: key, text, prompt } = request;
  const run = { name: text.split(' ').at(-1), at: Date.now(), isResumed: prompt.includes('the service was restarted'), overlaps: running.has(key) };
  appendFileSync(${JSON.stringify(runsFile)}, JSON.stringify(run) + '\\n');
  running.add(key);
  try {
    yield* findCommand(text)(request, signal);
  } finally {
    running.delete(key);
  }
}
`;
