/** Loaded only on systems without `/proc`. */
const childProcess = () => process.getBuiltinModule('node:child_process');

const timeoutMs = 5000;
/** A fixed locale, so that numbers and dates can be parsed. */
const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C' };

/** The output of `ps` for these columns (`rss=,time=`) of one process or all; empty if a process is gone or not visible. Never rejects. */
export const askPs = (columns: string, pid: number | 'all'): Promise<string> =>
  new Promise((resolve) => {
    const which = pid === 'all' ? ['-A'] : ['-p', String(pid)];
    const options = { env, cwd: '/', timeout: timeoutMs };
    childProcess().execFile('ps', [...which, '-o', columns], options, (_error, stdout) => resolve(stdout.trim()));
  });

/** When a process was started, synchronously. In the locale of this process, as stored marks were made so. @throws when it is gone */
export const askPsForStart = (pid: number): string =>
  childProcess()
    .execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 2000 })
    .toString()
    .trim();
