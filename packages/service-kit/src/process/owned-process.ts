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

/** A process that the kernel does not let go within this time after SIGKILL is left behind; its owner goes on without it. */
const killLimitMs = 2000;

/** What a program wrote before its end is read within this time, also when something it left behind holds its pipes open. */
const drainMs = 1000;

/** Programs that were killed and do not end. With this many the machine is in trouble, and more would make it worse. */
const maxDying = 32;

/** Inherited by all that a program starts, so that it is found wherever it has put itself. */
const markName = 'GATEWAY_PROCESS_MARK';

/** A program that we started, with all that it starts. */
export type OwnedProcess = {
  readonly child: ChildProcessWithoutNullStreams;
  /**
   * Ends the program and everything it has started: stdin closed, SIGTERM, SIGKILL. False when it was killed and is still
   * there. Bounded; safe to call twice, and for a program that never started.
   */
  end(times?: StopTimes): Promise<boolean>;
  /** SIGKILL for the program and everything it has started. Bounded as `end` is. */
  kill(): Promise<boolean>;
  /** Ends what descends from the program no more while it goes on: what its commands have left behind. Linux only. */
  endOrphans(): Promise<void>;
};

type Options = {
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** It runs commands of others: where the system allows it, nothing that they start gets out of reach. */
  contained?: boolean;
};

const dying = new Set<OwnedProcess>();

/**
 * Starts a program as the leader of a process group, with pipes. What it leaves behind when it ends, in its group or, on
 * Linux, out of it, is ended as well, and the pipes are closed: `close` follows `exit`.
 * @throws when too many programs that were killed have not ended yet.
 */
export function spawnOwned(program: string, programArgs: readonly string[], { env, cwd, contained }: Options): OwnedProcess {
  if (dying.size >= maxDying) throw new Error(`${dying.size} programs were killed and do not end; ${program} is not started`);
  const mark = randomUUID();
  const group = contained === true ? openCgroup() : null;
  const { command, args } = group?.enter(program, programArgs) ?? { command: program, args: programArgs };
  const child = spawn(command, args, { cwd, env: { ...env, [markName]: mark }, detached: true, stdio: 'pipe' });
  if (!hasPipes(child)) {
    child.on('error', () => undefined); // said here
    void group?.close();
    throw new Error(`${program} could not be started: no more files can be opened`);
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
  /** Gone with what it left behind: the service may end right after it. */
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
      // While it is there it is known what it has started.
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
        // A program that could not enter the group is not in it, and nor is what it starts.
        const started = inside.includes(pid) ? inside : await markedProcesses(markName, isMark);
        if (!(await endOrphans(pid, started))) return;
      }
    },
  };
  return owned;
}

/** Without a free descriptor there are none, whatever the type says. */
const hasPipes = (child: ChildProcessWithoutNullStreams): boolean => (child.stdin as unknown) !== undefined;
