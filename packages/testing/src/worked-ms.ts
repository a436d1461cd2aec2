/** What this thread has worked so far. Unlike the time of day it does not count what others do on the machine. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
