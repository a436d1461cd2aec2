import type { ErrorBody } from '@svc/contract/error-body.ts';
import { CliError } from '../cli-error.ts';

/** What a failed test says, and the command that most likely mends it. */
export const testFailure = (id: string, { error, message }: ErrorBody): CliError =>
  new CliError(`${id} gave no answer (${error}).`, { why: message, run: mend(id, error) });

function mend(id: string, error: ErrorBody['error']): string {
  switch (error) {
    case 'engine_not_installed':
      return `./svc engine install ${id}`;
    case 'engine_not_logged_in':
    case 'engine_auth_failed':
      return id === 'gemini' ? './svc engine key gemini' : `./svc engine login ${id}`;
    case 'engine_bad_model':
      return `./svc engine model ${id} MODEL`;
    default:
      return './svc doctor';
  }
}
