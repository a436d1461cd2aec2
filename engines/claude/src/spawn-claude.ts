import type { ChildProcess } from 'node:child_process';
import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { createLineGate } from '@svc/engine-kit/line-gate.ts';
import { lineTooLong } from '@svc/engine-kit/output-limits.ts';
import { tieToParent } from '@svc/engine-kit/parent-tie.ts';
import { spawnOwned, type OwnedProcess } from '@svc/service-kit/process/owned-process.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';

type SpawnOptions = { command: string; args: string[]; cwd?: string; env: Record<string, string | undefined> };

/** The parts of a process that the SDK needs. */
type SdkProcess = Pick<ChildProcess, 'stdin' | 'stdout' | 'killed' | 'exitCode' | 'signalCode' | 'kill' | 'on' | 'once' | 'off'>;

/** The program's process. We start it ourselves, to be able to end it with all its child processes. */
export type ClaudeProcess = {
  /** Passed to the SDK as `spawnClaudeCodeProcess`. */
  spawn(options: SpawnOptions): SdkProcess;
  /** Id of the program's process, once it was started. */
  readonly pid: number | undefined;
  /** Why it was ended, if it wrote a line that was too long. */
  readonly overflow: EngineFailure | null;
  stderrTail(): string;
  end(): Promise<void>;
  /** Ends it by force: a hanging one might wake up and continue its last request. */
  kill(): Promise<void>;
  /** Ends the leftover processes of its commands, while it continues to run. */
  endOrphans(): Promise<void>;
};

export function createClaudeProcess(maxLine: number): ClaudeProcess {
  const stderr = createTextTail();
  let owned: OwnedProcess | null = null;
  let overflow: EngineFailure | null = null;

  /** The SDK holds a whole line in memory, whatever its length, so overlong lines are not passed on. */
  const gated = (started: OwnedProcess): SdkProcess => {
    const { child } = started;
    const stdout = createLineGate(maxLine, () => {
      overflow = lineTooLong(maxLine);
      void started.kill();
    });
    child.stdout.pipe(stdout);
    child.stdout.once('close', () => stdout.end());
    return new Proxy(child, {
      get: (target, name) => {
        const value: unknown = name === 'stdout' ? stdout : Reflect.get(target, name);
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
      },
    });
  };

  return {
    spawn({ cwd, env, ...program }) {
      const { command, args } = tieToParent(program.command, program.args, env.PATH);
      owned = spawnOwned(command, args, { cwd, env, contained: true });
      owned.child.stderr.setEncoding('utf8').on('data', stderr.add);
      return gated(owned);
    },
    get pid() {
      return owned?.child.pid;
    },
    get overflow() {
      return overflow;
    },
    stderrTail: stderr.read,
    end: async () => void (await owned?.end()),
    kill: async () => void (await owned?.kill()),
    endOrphans: async () => owned?.endOrphans(),
  };
}
