import { Secret } from '../secret.ts';
import { ServiceError } from '../service-error.ts';
import { runProgram, usualOutput, type ProgramResult } from '../process/run-program.ts';
import { readSecretsFile } from './secrets-file.ts';

/** Where a value came from, in the order of the search. */
export type SecretOrigin = 'environment' | 'file' | 'command';

export type FoundSecret = { value: Secret; from: SecretOrigin } | { problem: string };

export type SecretPlaces = {
  env: Readonly<Record<string, string | undefined>>;
  /** A JSON object of names and values that only its owner may read. It is read each time, so a rotated secret takes effect. */
  file: string;
  /** The program that is asked last, with its arguments; null when there is none. */
  command: readonly string[] | null;
};

/** Finds secrets by name on this machine. If a place is unusable, that is reported, and the later ones are not searched. */
export type SecretSources = { find(name: string): Promise<FoundSecret> };

/** `hasVault`: the caller has already asked a vault, so the error suggests storing a missing secret there. */
export function createSecretSources({ env, file, command }: SecretPlaces, { hasVault = false } = {}): SecretSources {
  const ask = command === null ? null : createSecretCommand(command, env);
  return {
    async find(name) {
      const given = Object.hasOwn(env, name) ? env[name] : undefined;
      if (given !== undefined && given !== '') return { value: new Secret(given), from: 'environment' };
      const inFile = await valueInFile(file, name);
      if (inFile !== null) return 'problem' in inFile ? inFile : { ...inFile, from: 'file' };
      const places = hasVault ? `the vault (./svc vault put ${name}), the environment or` : 'the environment or into';
      const missing = `The secret "${name}" is not set. Put it into ${places} ${file} (docs/secrets.md)`;
      if (ask === null) return { problem: `${missing}.` };
      const answer = await ask(name);
      return 'value' in answer
        ? { value: new Secret(answer.value), from: 'command' }
        : { problem: `${missing}; ${answer.problem}.` };
    },
  };
}

async function valueInFile(file: string, name: string): Promise<{ value: Secret } | { problem: string } | null> {
  try {
    const secrets = await readSecretsFile(file);
    const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    return typeof value === 'string' && value !== '' ? { value: new Secret(value) } : null;
  } catch (error) {
    if (error instanceof ServiceError) return { problem: error.message };
    throw error;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The value that the command printed, or why there is none. */
type CommandAnswer = { value: string } | { problem: string };

const timeoutMs = 10_000;
const setting = 'the command of SVC_SECRETS_COMMAND';

/**
 * Asks a program for secrets: it gets the name as its last argument and prints the value to stdout. No shell is involved, and
 * the program does not see the service's own settings.
 */
function createSecretCommand(command: readonly string[], env: Env): (name: string) => Promise<CommandAnswer> {
  const [program = '', ...args] = command;
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')));
  return async (name) => {
    // Any other name could be read as an option.
    if (!/^\w[\w.:/-]*$/.test(name)) return { problem: `${setting} is not called for names of this form` };
    const answer = await runProgram(program, [...args, name], { env: ownEnv, timeoutMs });
    if (answer.ending !== 'ended' || answer.code !== 0 || answer.isCut) return { problem: describe(answer) };
    const value = answer.stdout.replace(/\r?\n$/, '');
    return value === '' ? { problem: `${setting} printed nothing` } : { value };
  };
}

/** The program's stderr is not shown, because it may contain anything. */
function describe({ ending, code, isCut }: ProgramResult): string {
  if (ending === 'not_started') return `${setting} could not be started`;
  if (isCut) return `${setting} wrote more than ${usualOutput / 1024} KiB`;
  if (ending === 'too_late') return `${setting} took longer than ${timeoutMs / 1000} s`;
  return `${setting} ended with ${code === null ? 'a signal' : `code ${code}`}`;
}
