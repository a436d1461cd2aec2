/** The CPU time of this thread. Unlike the time of day it does not count other work on the machine. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
