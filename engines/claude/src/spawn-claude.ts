import { spawn, type ChildProcess } from 'node:child_process';
import { tieToParent } from '@svc/engine-kit/parent-tie.ts';
import { childGone, endProcessGroup, signalGroup, within } from '@svc/engine-kit/process-group.ts';
import { createTextTail } from '@svc/engine-kit/text-tail.ts';

type SpawnOptions = { command: string; args: string[]; cwd?: string; env: Record<string, string | undefined> };

/** The program's process, which we start ourselves so that we can end it with all its children. */
export type ClaudeProcess = {
  /** Handed to the SDK as `spawnClaudeCodeProcess`. */
  spawn(options: SpawnOptions): ChildProcess;
  /** Of the program, once it was started. */
  readonly pid: number | undefined;
  stderrTail(): string;
  end(): Promise<void>;
  /** Ends it without asking: one that hangs might wake up and go on with what it was told. */
  kill(): Promise<void>;
};

/** From SIGKILL to the end. */
const killLimitMs = 2000;

export function createClaudeProcess(): ClaudeProcess {
  const stderr = createTextTail();
  let child: ChildProcess | null = null;
  return {
    spawn({ cwd, env, ...program }) {
      const { command, args } = tieToParent(program.command, program.args, env.PATH);
      const started = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
      started.stderr.setEncoding('utf8').on('data', stderr.add);
      started.on('exit', () => signalGroup(started, 'SIGKILL'));
      child = started;
      return started;
    },
    get pid() {
      return child?.pid;
    },
    stderrTail: stderr.read,
    async end() {
      if (child === null) return;
      await endProcessGroup(child);
      await childGone(child);
    },
    async kill() {
      if (child === null) return;
      signalGroup(child, 'SIGKILL');
      await within(childGone(child), killLimitMs);
    },
  };
}
