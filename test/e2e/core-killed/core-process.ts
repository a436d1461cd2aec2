import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { createHostProcess } from '@svc/testing/host-process.ts';

export type CoreProcess = Awaited<ReturnType<typeof createCoreProcess>>;

/** Runs a core and restarts it in the same folder and at the same address, as a supervisor would. `notes`: a folder for the test's own notes. */
export async function createCoreProcess(dir: string, managerPort: number, settings: Record<string, string>, notes = dir) {
  const [port, collector] = (await freePorts(2)) as [number, number];
  const runsFile = path.join(notes, 'runs.jsonl');
  const script = path.join(notes, 'script.mjs');
  writeFileSync(script, scriptText(runsFile));
  // Synced before any power cut: it stands for a file that the operator wrote long ago.
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify(seed), { flush: true });
  writeFileSync(runsFile, '');
  const ports = { core: port, manager: managerPort, collector };
  const env = { SVC_OFFLINE_SCRIPT: script, SVC_MAX_CONCURRENT_TURNS: '8', ...settings };
  return {
    url: `http://127.0.0.1:${port}`,
    socket: path.join(dir, 'run/core.sock'),
    passKey: path.join(dir, 'connector.key'),
    runsFile,
    ...createHostProcess('core', dir, ports, env),
  };
}

const seed = {
  principals: [
    { key: 'anna', role: 'trusted', identifiers: ['messenger', 'compat'].map((surface) => ({ surface, value: 'anna' })) },
  ],
};

/** The offline engine's commands; each run is recorded before its first output. */
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
