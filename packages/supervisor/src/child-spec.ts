/** How one child process is started and kept. The supervisor knows nothing of what runs inside. */
export type ChildSpec = {
  name: string;
  /** Module that Node runs, with a channel to its parent (`process.send`), so that it ends when its parent is gone. */
  entry: string;
  args?: string[];
  execArgv?: string[];
  /** What its JavaScript may hold, MB. A process that needs more ends. */
  heapMb?: number;
  env: Record<string, string>;
  /** Variable in which the next process finds how the one before it ended: a signal's name or an exit code. */
  lastExitVariable?: string;
  cwd?: string;
  /** Sent as soon as the process exists; made for each start. */
  greeting?: () => unknown;
  /** From spawn to the child's `{ type: 'ready' }` message. */
  startTimeoutMs: number;
  /** From SIGTERM (or the `stop` message) to SIGKILL of the process group. */
  stopTimeoutMs: number;
  /** When it is not started again but has failed; asked after each exit. Null, or without it: it is tried for ever. */
  giveUp?: () => GiveUp | null;
};

/** A child is given up after one of these exit codes, and after more than `exits` exits within `periodMs`. */
export type GiveUp = { exitCodes: readonly number[]; exits: number; periodMs: number };

/** For a child whose failing is shown to a person who can start it again with one command. */
export const crashLimit: GiveUp = { exitCodes: [], exits: 5, periodMs: 60_000 };

/** A signal, which any process of the same user can send, must not open a debugger into what ours know. */
const noDebugger = '--disable-sigusr1';
/** Node flags of our processes: a small nursery costs a few per cent of CPU at full load and saves some 25 MB in each. */
export const leanNode = ['--max-semi-space-size=2', noDebugger];
/** The same for the process on the path of every turn, where collecting less often is worth some memory. */
export const busyNode = ['--max-semi-space-size=8', noDebugger];

export type ChildStatus = 'stopped' | 'starting' | 'running' | 'backoff' | 'failed';

export type ChildState = {
  status: ChildStatus;
  pid: number | null;
  restarts: number;
  startedAt: number | null;
  /** When the next start is due, while backing off. */
  nextStartAt: number | null;
  /** Exits in a row without a long run in between. */
  failures: number;
  lastExit: { code: number | null; signal: string | null; at: number; reason: string } | null;
  /** Fields of the child's `ready` message. */
  ready: Record<string, unknown> | null;
};

/** One line that a child wrote; JSON lines are kept as they are. */
export type LogLine = { at: number; stream: 'stdout' | 'stderr'; text: string };

/** What any Node child may have: how to find programs, where home is, the language, the compile cache. */
const harmlessNames = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_COMPILE_CACHE'] as const;

/** The harmless variables that are set. A child gets what is listed and nothing else, so no token reaches it by accident. */
export function pickEnv(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = harmlessNames,
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
