/** Exit codes that a supervisor can distinguish: after a bad setting, for example, a restart does not help. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notRunning: 3, badSettings: 78, portInUse: 69 } as const;

/** The variable that tells a restarted process how its predecessor ended: the name of a signal or an exit code. */
export const lastExitVariable = 'GATEWAY_LAST_EXIT';

/** Signals of a process that ran out of memory or crashed; repeating what it did would probably do the same. */
const deadly = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP']);
/** The same as reported by a shell: 128 plus the number of the signal. */
const deadlyCodes = new Set([132, 133, 134, 135, 136, 139, 159]);

/** True if a process ended by its own fault, and was neither asked to end nor killed. */
export const isDeadlyExit = (exit: string | undefined): boolean =>
  exit !== undefined && (deadly.has(exit) || deadlyCodes.has(Number(exit)));
