import type { ErrorBody, ErrorCode } from '@svc/contract/error-body.ts';
import { isUsedByKey } from '@svc/service-kit/config/engine-traits.ts';
import { CliError } from '../cli-error.ts';

type EngineCode = Extract<ErrorCode, `engine_${string}`>;

/** The command that most likely helps, for each kind of engine failure. Null: wait, or write something else. */
const commands: Record<EngineCode, ((id: string) => string) | null> = {
  engine_not_installed: (id) => `./svc engine install ${id}`,
  engine_not_logged_in: logIn,
  engine_auth_failed: logIn,
  engine_api_key_refused: logIn,
  engine_bad_model: (id) => `./svc engine model ${id}`,
  engine_endpoint_down: () => './svc engine',
  engine_rate_limited: null,
  engine_overloaded: null,
  engine_context_too_long: null,
  engine_output_too_large: null,
  engine_policy_refused: (id) => `./svc engine install ${id}`,
  engine_stalled: () => './svc logs core',
  engine_crashed: () => './svc logs core',
  engine_failed: () => './svc doctor',
};

/** The command that helps after a failure of an engine; null when there is none. */
export const failureCommand = (id: string, code: ErrorCode): string | null =>
  isEngineCode(code) ? (commands[code]?.(id) ?? null) : null;

/** The message of a failure, with the command that helps when it names none itself. */
export function describeFailure(id: string, { error, message }: Pick<ErrorBody, 'error' | 'message'>): string {
  const command = message.includes('./svc ') ? null : failureCommand(id, error);
  return command === null ? message : `${message} Run: ${command}`;
}

/** The error for a failed test of an engine: what failed, why, and the command that helps. */
export const testFailure = (id: string, { error, message }: ErrorBody): CliError =>
  new CliError(`${id} gave no answer (${error}).`, { why: message, run: failureCommand(id, error) ?? undefined });

const isEngineCode = (code: ErrorCode): code is EngineCode => code in commands;

function logIn(id: string): string {
  return isUsedByKey(id) ? `./svc engine key ${id}` : `./svc engine login ${id}`;
}
