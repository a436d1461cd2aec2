/** How one child process is started and kept running. The supervisor knows nothing about what runs inside. */
export type ChildSpec = {
  name: string;
  /** The module that Node runs. It has a channel to its parent (`process.send`), so that it notices the parent's end. */
  entry: string;
  args?: string[];
  execArgv?: string[];
  /** The limit of its JavaScript heap, MB. A process that needs more ends. */
  heapMb?: number;
  env: Record<string, string>;
  /** The variable that tells the next process how the previous one ended: a signal's name or an exit code. */
  lastExitVariable?: string;
  cwd?: string;
  /** Makes the message that is sent as soon as the process exists. */
  greeting?: () => unknown;
  /** From spawn to the child's `{ type: 'ready' }` message. */
  startTimeoutMs: number;
  /** From SIGTERM (or the `stop` message) to SIGKILL of the process group. */
  stopTimeoutMs: number;
  /** When to stop restarting it; called after each exit. Null, or if not set: it is restarted for ever. */
  giveUp?: () => GiveUp | null;
};

/** A child is given up after one of these exit codes, and after more than `exits` exits within `periodMs`. */
export type GiveUp = { exitCodes: readonly number[]; exits: number; periodMs: number };

/** For a child whose failure is shown to a person, who can start it again with one command. */
export const crashLimit: GiveUp = { exitCodes: [], exits: 5, periodMs: 60_000 };

/** Otherwise SIGUSR1, which any process of the same user can send, would open a debugger into a process with secrets. */
const noDebugger = '--disable-sigusr1';
/** Node flags of most processes: a small nursery costs a few per cent of CPU at full load and saves some 25 MB in each. */
export const leanNode = ['--max-semi-space-size=2', noDebugger];
/** The same for the process on the path of every turn, where collecting less often is worth some memory. */
export const busyNode = ['--max-semi-space-size=8', noDebugger];

export type ChildStatus = 'stopped' | 'starting' | 'running' | 'backoff' | 'failed';

export type ChildState = {
  status: ChildStatus;
  pid: number | null;
  restarts: number;
  startedAt: number | null;
  /** When the next start is due, during back-off. */
  nextStartAt: number | null;
  /** Consecutive exits without a long run in between. */
  failures: number;
  lastExit: { code: number | null; signal: string | null; at: number; reason: string } | null;
  /** Fields of the child's `ready` message. */
  ready: Record<string, unknown> | null;
};

/** One line that a child wrote; JSON lines are kept as they are. */
export type LogLine = { at: number; stream: 'stdout' | 'stderr'; text: string };

/** Variables that any Node child may have: to find programs, the home folder, the language, the compile cache. */
const harmlessNames = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_PORTABLE'] as const;

/** Picks the listed variables that are set. A child gets nothing else, so that no token reaches it by accident. */
export function pickEnv(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = harmlessNames,
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
