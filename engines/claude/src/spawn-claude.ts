import type { ChildProcess } from 'node:child_process';
import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { createLineGate } from '@svc/engine-kit/line-gate.ts';
import { lineTooLong } from '@svc/engine-kit/output-limits.ts';
import { tieToParent } from '@svc/engine-kit/parent-tie.ts';
import { spawnOwned, type OwnedProcess } from '@svc/service-kit/process/owned-process.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';

type SpawnOptions = { command: string; args: string[]; cwd?: string; env: Record<string, string | undefined> };

/** What the SDK needs of a process. */
type SdkProcess = Pick<ChildProcess, 'stdin' | 'stdout' | 'killed' | 'exitCode' | 'signalCode' | 'kill' | 'on' | 'once' | 'off'>;

/** The program's process, which we start ourselves so that we can end it with all its children. */
export type ClaudeProcess = {
  /** Handed to the SDK as `spawnClaudeCodeProcess`. */
  spawn(options: SpawnOptions): SdkProcess;
  /** Of the program, once it was started. */
  readonly pid: number | undefined;
  /** Why it was ended, when it wrote a line that is too long. */
  readonly overflow: EngineFailure | null;
  stderrTail(): string;
  end(): Promise<void>;
  /** Ends it without asking: one that hangs might wake up and continue its last request. */
  kill(): Promise<void>;
  /** Ends what its commands have left behind, while it goes on. */
  endOrphans(): Promise<void>;
};

export function createClaudeProcess(maxLine: number): ClaudeProcess {
  const stderr = createTextTail();
  let owned: OwnedProcess | null = null;
  let overflow: EngineFailure | null = null;

  /** The SDK keeps a line in memory whatever its length, so it gets none that is too long. */
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
