import { execFile } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/** The value a command gave, or why it gave none. */
export type CommandAnswer = { value: string } | { problem: string };

const timeoutMs = 10_000;
const maxOutputBytes = 64 * 1024;
const setting = 'the command of SVC_SECRETS_COMMAND';

/**
 * Asks a program for secrets: it gets the name as its last argument and answers on stdout. No shell is involved, and the
 * program sees nothing of the service's own settings.
 */
export function createSecretCommand(command: readonly string[], env: Env): (name: string) => Promise<CommandAnswer> {
  const [program = '', ...args] = command;
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')));
  return (name) => {
    // Anything else could be read as an option.
    if (!/^\w[\w.:/-]*$/.test(name)) return Promise.resolve({ problem: `${setting} is not asked for such a name` });
    return new Promise((resolve) => {
      const options = { env: ownEnv, timeout: timeoutMs, maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const;
      const child = execFile(program, [...args, name], options, (error, stdout) => {
        const value = stdout.replace(/\r?\n$/, '');
        if (error !== null) resolve({ problem: describe(error) });
        else resolve(value === '' ? { problem: `${setting} gave nothing` } : { value });
      });
      child.stdin?.end();
    });
  };
}

/** What the program wrote to stderr is its own business and may hold anything. */
function describe(error: Error & { code?: unknown; killed?: boolean }): string {
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `${setting} wrote more than ${maxOutputBytes / 1024} KiB`;
  if (error.killed === true) return `${setting} took longer than ${timeoutMs / 1000} s`;
  return typeof error.code === 'number' ? `${setting} ended with code ${error.code}` : `${setting} could not be started`;
}
