import { readdir, readFile } from 'node:fs/promises';

/** A process may start another one while we look; no chain of them is endless. */
const maxRounds = 5;

/**
 * Ends every process that has the environment variable with a value that fits, wherever it belongs: an engine may start
 * commands in process groups of their own, which outlive it and its group. Linux only; elsewhere it finds none.
 */
export async function endMarkedProcesses(name: string, fits: (value: string) => boolean): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    const pids = await markedProcesses(name, fits);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
  }
}

async function markedProcesses(name: string, fits: (value: string) => boolean): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const values = await Promise.all(pids.map((pid) => readVariable(pid, name)));
  return pids.filter((_pid, index) => {
    const value = values[index];
    return typeof value === 'string' && fits(value);
  });
}

/** What a process was started with; null when it has no such variable, is gone, or is somebody else's. */
async function readVariable(pid: number, name: string): Promise<string | null> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    const entry = environment.split('\0').find((line) => line.startsWith(`${name}=`));
    return entry === undefined ? null : entry.slice(name.length + 1);
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It is gone, or it runs as somebody whom we may not end.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
