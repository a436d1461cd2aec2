import type { ErrorBody } from '@svc/contract/error-body.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import type { ServiceAnswer } from './service-client.ts';
import { CliError } from './cli-error.ts';
import { print } from './terminal.ts';

/** What to add to a refusal's own message: what failed, and the command that helps. */
export type RefusalHelp = { what: string; run: string };

/**
 * Prints an answer of the core, rendered or as JSON (a refusal too). Returns the exit code.
 * @throws CliError for a refusal that is not printed
 */
export function showAnswer<T>(
  answer: ServiceAnswer<T>,
  { json }: { json?: boolean },
  help: RefusalHelp,
  render: (body: T) => string,
): number {
  if (json === true) print(JSON.stringify(answer.body, null, 2));
  else if (answer.ok) print(render(answer.body));
  else throw refusal(answer.body, help);
  return answer.ok ? exitCodes.ok : exitCodes.failed;
}

/** A refusal of the core as the error of a command. */
export const refusal = ({ message }: ErrorBody, { what, run }: RefusalHelp): CliError =>
  new CliError(what, { why: message, run });
