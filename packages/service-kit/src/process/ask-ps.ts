/** On systems that do not show processes as files. Loaded only there. */
const childProcess = () => process.getBuiltinModule('node:child_process');

const timeoutMs = 5000;
/** Numbers and dates as they are parsed, whatever the language of this process. */
const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C' };

/** What `ps` writes for these columns (`rss=,time=`) of one process, or of all; empty for what is gone or not to be seen. Never rejects. */
export const askPs = (columns: string, pid: number | 'all'): Promise<string> =>
  new Promise((resolve) => {
    const which = pid === 'all' ? ['-A'] : ['-p', String(pid)];
    const options = { env, cwd: '/', timeout: timeoutMs };
    childProcess().execFile('ps', [...which, '-o', columns], options, (_error, stdout) => resolve(stdout.trim()));
  });

/** When a process was started, at once and in the language of this process: marks that are on disk were made so. @throws when it is gone */
export const askPsForStart = (pid: number): string =>
  childProcess()
    .execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 2000 })
    .toString()
    .trim();
