/** Ends a process and all it started in its group, at once. Nothing happens when nobody is left. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH is nobody left; macOS says EPERM while the last one is not yet collected.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
