import { runProgram, usualOutput, type ProgramResult } from '../process/run-program.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The value a command gave, or why it gave none. */
export type CommandAnswer = { value: string } | { problem: string };

const usualTimeoutMs = 10_000;
const setting = 'the command of SVC_SECRETS_COMMAND';

/**
 * Asks a program for secrets: it gets the name as its last argument and answers on stdout. No shell is involved, and the
 * program sees nothing of the service's own settings.
 */
export function createSecretCommand(
  command: readonly string[],
  env: Env,
  timeoutMs = usualTimeoutMs,
): (name: string) => Promise<CommandAnswer> {
  const [program = '', ...args] = command;
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')));
  return async (name) => {
    // Anything else could be read as an option.
    if (!/^\w[\w.:/-]*$/.test(name)) return { problem: `${setting} is not asked for such a name` };
    const answer = await runProgram(program, [...args, name], { env: ownEnv, timeoutMs });
    if (answer.ending !== 'ended' || answer.code !== 0 || answer.isCut) return { problem: describe(answer, timeoutMs) };
    const value = answer.stdout.replace(/\r?\n$/, '');
    return value === '' ? { problem: `${setting} gave nothing` } : { value };
  };
}

/** What the program wrote to stderr is its own business and may hold anything. */
function describe({ ending, code, isCut }: ProgramResult, timeoutMs: number): string {
  if (ending === 'not_started') return `${setting} could not be started`;
  if (isCut) return `${setting} wrote more than ${usualOutput / 1024} KiB`;
  if (ending === 'too_late') return `${setting} took longer than ${timeoutMs / 1000} s`;
  return `${setting} ended with ${code === null ? 'a signal' : `code ${code}`}`;
}
