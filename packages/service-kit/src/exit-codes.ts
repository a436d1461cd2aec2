/** Exit codes a supervisor can tell apart: a bad setting does not get better by trying again. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notRunning: 3, badSettings: 78, portInUse: 69 } as const;

/** Variable in which a process that is started again finds how the one before it ended: a signal's name or an exit code. */
export const lastExitVariable = 'GATEWAY_LAST_EXIT';

/** How a process ends that has run out of memory, or whose program has failed: what it did would do the same again. */
const deadly = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);
/** The same as reported by a shell in between: 128 plus the signal's number. */
const deadlyCodes = new Set([132, 133, 134, 135, 136, 139, 159]);

/** True when a process ended by its own fault, and not because it was asked or killed. */
export const isDeadlyExit = (exit: string | undefined): boolean =>
  exit !== undefined && (deadly.has(exit) || deadlyCodes.has(Number(exit)));
