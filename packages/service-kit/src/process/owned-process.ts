import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { childGone, signalGroup } from './process-group.ts';
import { within } from '../within.ts';
import { openCgroup } from './cgroup.ts';
import { endDescendants, endMarkedProcesses, endOrphans, markedProcesses, maxRounds } from './marked-processes.ts';

export type StopTimes = {
  /** From the polite request (stdin closed) to SIGTERM. */
  politeMs: number;
  /** From SIGTERM to SIGKILL. */
  termMs: number;
};

export const stopTimes: StopTimes = { politeMs: 1000, termMs: 2000 };

/** A process that the kernel does not end within this time after SIGKILL is left behind; its owner continues without it. */
const killLimitMs = 2000;

/** How long the last output of a program is read after its end, if a process that it left behind keeps its pipes open. */
const drainMs = 1000;

/** Killed programs that have not ended. With this many the machine has a problem, and more would make it worse. */
const maxDying = 32;

/** Inherited by everything that a program starts, so that it can be found in any group or session. */
const markName = 'GATEWAY_PROCESS_MARK';

/** A program that we started, with everything that it starts. */
export type OwnedProcess = {
  readonly child: ChildProcessWithoutNullStreams;
  /**
   * Ends the program and everything it has started: closes stdin, then SIGTERM, then SIGKILL. False if it was killed but has
   * not ended. Limited in time; safe to call twice, and for a program that never started.
   */
  end(times?: StopTimes): Promise<boolean>;
  /** SIGKILL for the program and everything it has started. Limited in time like `end`. */
  kill(): Promise<boolean>;
  /** Ends processes that commands of the program left behind, while the program continues. Linux only. */
  endOrphans(): Promise<void>;
};

type Options = {
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** The program runs untrusted commands: where the system allows it, everything that they start can be found and ended. */
  contained?: boolean;
};

const dying = new Set<OwnedProcess>();

/**
 * Starts a program as the leader of a process group, with pipes. Processes that it leaves behind when it ends, in its group or,
 * on Linux, outside of it, are ended too, and the pipes are closed: `close` follows `exit`.
 * @throws when too many killed programs have not ended yet.
 */
export function spawnOwned(program: string, programArgs: readonly string[], { env, cwd, contained }: Options): OwnedProcess {
  if (dying.size >= maxDying) throw new Error(`${dying.size} killed programs have not ended, so ${program} is not started`);
  const mark = randomUUID();
  const group = contained === true ? openCgroup() : null;
  const { command, args } = group?.enter(program, programArgs) ?? { command: program, args: programArgs };
  const child = spawn(command, args, { cwd, env: { ...env, [markName]: mark }, detached: true, stdio: 'pipe' });
  if (!hasPipes(child)) {
    child.on('error', () => undefined); // reported by the throw below
    void group?.close();
    throw new Error(`${program} could not be started: too many open files`);
  }
  if (child.pid === undefined) void group?.close();
  const gone = childGone(child);
  const isMark = (value: string) => value === mark;
  const killTree = async () => {
    signalGroup(child, 'SIGKILL');
    await Promise.all([group?.close(), child.pid !== undefined && endMarkedProcesses(markName, isMark)]);
  };
  let tidied = Promise.resolve();
  child.once('exit', () => {
    dying.delete(owned);
    tidied = killTree();
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, drainMs).unref();
  });
  /** Also waits for processes that it left behind, because the service may end right afterwards. */
  const isGoneWithin = async (ms: number) => {
    if (!(await within(gone, ms))) return false;
    await within(tidied, killLimitMs);
    return true;
  };
  const owned: OwnedProcess = {
    child,
    async end({ politeMs, termMs } = stopTimes) {
      child.stdin.end();
      if (await isGoneWithin(politeMs)) return true;
      signalGroup(child, 'SIGTERM');
      return (await isGoneWithin(termMs)) || owned.kill();
    },
    async kill() {
      // Its descendants are known only while it runs.
      if (child.pid !== undefined && !(await within(gone, 0))) await within(endDescendants(child.pid), killLimitMs);
      await Promise.all([within(gone, killLimitMs), within(killTree(), killLimitMs)]);
      const isGone = await within(gone, 0);
      if (!isGone) dying.add(owned);
      return isGone;
    },
    async endOrphans() {
      const { pid } = child;
      for (let round = 0; round < maxRounds && pid !== undefined; round++) {
        const inside = (await group?.pids()) ?? [];
        // A program that could not enter the group is not in it, nor are its children.
        const started = inside.includes(pid) ? inside : await markedProcesses(markName, isMark);
        if (!(await endOrphans(pid, started))) return;
      }
    },
  };
  return owned;
}

/** Without a free descriptor there are no pipes, despite the type. */
const hasPipes = (child: ChildProcessWithoutNullStreams): boolean => (child.stdin as unknown) !== undefined;
