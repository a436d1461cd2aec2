import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { ChildMessage, ParentMessage } from '../child-protocol.ts';

type StartMessage = Extract<ParentMessage, { type: 'start' }>;

type Exit = { code: number | null; signal: string | null };

export type ForkedConnector = {
  child: ChildProcess;
  messages: ChildMessage[];
  /** The output of the process, stdout and stderr. */
  output(): string;
  send(message: ParentMessage): void;
  /** The first message of a type, even if it has already arrived. Rejects when the process ends first. */
  message<T extends ChildMessage['type']>(type: T): Promise<Extract<ChildMessage, { type: T }>>;
  /** How the process ended; the code is null when a signal did it. */
  exit: Promise<Exit>;
  kill(): void;
};

const entry = path.join(import.meta.dirname, '../child-main.ts');

/** Starts a connector process as the manager does, for a test that acts as the manager. */
export function forkConnector(start: Partial<StartMessage> & Pick<StartMessage, 'entry' | 'dataDir'>): ForkedConnector {
  const child = fork(entry, [], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
  const messages: ChildMessage[] = [];
  const waiting = new Set<() => void>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.on('message', (message: ChildMessage) => {
    messages.push(message);
    for (const check of waiting) check();
  });
  const exit = exitOf(child);
  const send = (message: ParentMessage) => void child.send(message);
  send({
    type: 'start',
    instanceId: 'inst_1',
    instanceName: 'A test',
    connectorType: 'scripted',
    config: {},
    release: { version: '0.0.0', channel: 'stable', sha: 'unknown' },
    assistantName: 'assistant',
    coreSocket: path.join(start.dataDir, 'core.sock'),
    pass: 'a-pass-of-the-manager',
    coreUrl: 'http://127.0.0.1:9',
    allowedHosts: [],
    heartbeatMs: 30_000,
    stopTimeoutMs: 5_000,
    packages: null,
    outbound: { token: 'a-token-of-the-manager', proof: 'a-proof-of-the-child' },
    ...start,
  });
  return {
    child,
    messages,
    output: () => output,
    send,
    exit,
    kill: () => void child.kill('SIGKILL'),
    message<T extends ChildMessage['type']>(type: T) {
      return new Promise<Extract<ChildMessage, { type: T }>>((resolve, reject) => {
        const isWanted = (message: ChildMessage): message is Extract<ChildMessage, { type: T }> => message.type === type;
        const check = () => {
          const found = messages.find(isWanted);
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
        void exit.then((how) => reject(new Error(`The connector ended (${JSON.stringify(how)}) before "${type}": ${output}`)));
      });
    },
  };
}

/** Not `close`: that event is not emitted for a child whose channel the parent closed. */
async function exitOf(child: ChildProcess): Promise<Exit> {
  const ended = [child.stdout, child.stderr].map(
    (stream) => new Promise<void>((resolve) => stream?.once('close', () => resolve())),
  );
  const exit = await new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await Promise.all(ended);
  return exit;
}
