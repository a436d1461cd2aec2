import { SettingsError } from '@svc/service-kit/config/setting.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { usualWidth, wrap, type Style } from './terminal.ts';

type Help = { why?: string; run?: string; exitCode?: number; cause?: unknown };

/** An error for a person: what failed, why, and the one command that helps. Without `run`, the command is taken from the reason. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly why: string | null;
  readonly run: string | null;
  readonly exitCode: number;

  constructor(what: string, help: Help = {}) {
    super(what, { cause: help.cause });
    this.why = help.why ?? null;
    this.run = help.run ?? commandIn(help.why);
    this.exitCode = help.exitCode ?? exitCodes.failed;
  }
}

/** A person pressed Ctrl-C while they were asked. */
export const stoppedByPerson = (): CliError => new CliError('stopped.', { why: 'Nothing was changed.', exitCode: 130 });

/** The command in a message of another process, such as "The vault is sealed. Open it: ./svc vault unseal". */
export const commandIn = (why = ''): string | null =>
  (/(?:: |")(\.\/svc [\w -]+\w)"?\.?$/.exec(why) ?? /: (\.\/svc [\w -]+\w)\. /.exec(why))?.[1] ?? null;

/** The one place that converts a thrown value to a CliError. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof SettingsError) {
    return new CliError('the settings are invalid.', {
      why: error.problems.join('\n'),
      run: './svc doctor',
      exitCode: exitCodes.badSettings,
    });
  }
  if (error instanceof ServiceError) return new CliError('the command failed.', { why: error.message, cause: error });
  const { code, name, message, stack, path } = error as NodeJS.ErrnoException;
  if (code !== undefined && fileCodes.has(code)) {
    const why = (path !== undefined && wordsOf[code]?.(path)) || message;
    return new CliError('a file cannot be used.', { why, run: './svc doctor', cause: error });
  }
  if (isSilence(name)) return new CliError('no answer came in time.', { run: './svc status', cause: error });
  const broken = brokenConnection(code, message);
  if (broken !== null) return new CliError('the connection broke.', { why: broken, run: './svc status', cause: error });
  return new CliError('an unexpected error occurred.', {
    why: stack ?? message ?? String(error),
    run: './svc doctor',
    cause: error,
  });
}

const isSilence = (name: string) => name === 'TimeoutError' || name === 'AbortError';

/** A broken connection means that a process ended or the network failed; it is not a bug to report. */
function brokenConnection(code: string | undefined, message: string): string | null {
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'aborted') return 'The process ended before it answered.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The host name cannot be resolved.';
  return code !== undefined && networkCodes.has(code) ? `Network error: ${message}` : null;
}

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ENETDOWN',
  'EHOSTDOWN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

const indent = ' '.repeat(5);

/** Faults of a path, a disk or its permissions, not of this program. */
const fileCodes = new Set([
  'EACCES',
  'EDQUOT',
  'EEXIST',
  'EIO',
  'EISDIR',
  'ELOOP',
  'EMFILE',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'EROFS',
  'ERR_SQLITE_ERROR',
]);

/** Messages for the most common of these codes. */
const wordsOf: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `This user has no permission to use ${path}.`,
  EEXIST: (path) => `${path} already exists.`,
  EISDIR: (path) => `${path} is a folder.`,
  ENOENT: (path) => `There is no ${path}.`,
  ENOSPC: (path) => `The disk of ${path} is full.`,
  ENOTDIR: (path) => `A part of ${path} is not a folder.`,
  EPERM: (path) => `This user has no permission to use ${path}.`,
  EROFS: (path) => `${path} is on a disk that is read-only.`,
};

/** The failure, the reason and the command that helps, in lines of `width` columns. Indented lines (a stack) stay as they are. */
export function renderCliError(error: CliError, style: Style, width = usualWidth): string {
  const room = width - indent.length;
  const [first = '', ...others] = wrap(error.message, room);
  const lines = [`${style.red('svc:')} ${first}`, ...others.map((line) => indent + line)];
  for (const line of error.why?.split('\n') ?? []) {
    lines.push(...(/^\s/.test(line) ? [line] : wrap(line, room)).map((part) => indent + part));
  }
  if (error.run !== null) lines.push(`${style.bold('Run:')} ${error.run}`);
  return lines.join('\n');
}

type Away = { what?: string; why?: string };

/** Nothing listens at the port of the service, or of the process that was asked. */
export const notRunning = (cause: unknown, { what = 'the service', why }: Away = {}): CliError =>
  new CliError(`${what} is not running.`, { why, run: './svc up', cause });

/** True for a response that is not JSON: every process of the service answers in JSON. */
export const isUnexpectedResponse = (error: unknown): boolean => error instanceof Error && error.cause instanceof SyntaxError;

/** Another program uses the port of one of our processes. The doctor says which. */
export const unexpectedResponse = (url: string, cause: unknown): CliError =>
  new CliError('another program answers in place of the service.', {
    why: `The program at ${new URL(url).origin} is not part of this service.`,
    run: './svc doctor',
    cause,
  });
