import { SettingsError } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import type { Style } from './terminal.ts';

type Help = { why?: string; run?: string; exitCode?: number; cause?: unknown };

/** Something a person reads: what failed, why, and the one command that helps. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly why: string | null;
  readonly run: string | null;
  readonly exitCode: number;

  constructor(what: string, help: Help = {}) {
    super(what, { cause: help.cause });
    this.why = help.why ?? null;
    this.run = help.run ?? null;
    this.exitCode = help.exitCode ?? exitCodes.failed;
  }
}

/** The one place where anything thrown becomes words. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof SettingsError) {
    return new CliError('the settings are not usable.', {
      why: error.problems.join('\n'),
      run: './svc doctor',
      exitCode: exitCodes.badSettings,
    });
  }
  const { code, message, stack, path } = error as NodeJS.ErrnoException;
  if (code !== undefined && fileCodes.has(code)) {
    const why = code === 'ENOENT' && path !== undefined ? `There is no ${path}.` : message;
    return new CliError('a file cannot be used.', { why, run: './svc doctor', cause: error });
  }
  return new CliError('something went wrong that should not.', {
    why: stack ?? message ?? String(error),
    run: './svc doctor',
    cause: error,
  });
}

/** What is wrong with a path, a disk or its rights, and not with us. */
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

export function renderCliError(error: CliError, style: Style): string {
  const lines = [`${style.red('svc:')} ${error.message}`];
  if (error.why !== null) lines.push(...error.why.split('\n').map((line) => `     ${line}`));
  if (error.run !== null) lines.push(`${style.bold('Run:')} ${error.run}`);
  return lines.join('\n');
}
