import { ServiceError } from '@svc/service-kit/service-error.ts';
import { GrammyError, HttpError } from 'grammy';

const tokenHelp =
  'Get the token from @BotFather (/mybots, the bot, "API Token"), then run ./svc connector config NAME --secret bot_token_secret_key.';

/**
 * What keeps updates from coming, as text for the operator. Nothing of the fault below is passed on: it names the address of the
 * request, and the token stands in it.
 */
export function toPollFault(error: unknown): ServiceError {
  if (error instanceof GrammyError) return refusal(error);
  return new ServiceError('unavailable', `Telegram cannot be reached${codeOf(error)}. It is tried again.`);
}

function refusal({ error_code: status, description, parameters }: GrammyError): ServiceError {
  switch (status) {
    case 401:
    case 404:
      return new ServiceError('unauthorized', `Telegram does not know this token (${status}). ${tokenHelp}`);
    case 409:
      return new ServiceError('conflict', conflictText(description));
    case 429:
      return new ServiceError('busy', 'Telegram wants a pause.', { details: { retry_after_s: parameters.retry_after ?? 1 } });
    default:
      return new ServiceError(status >= 500 ? 'unavailable' : 'unprocessable', `Telegram answers ${status}: ${description}`);
  }
}

const conflictText = (description: string): string =>
  /webhook/i.test(description)
    ? 'A webhook is set for this bot (409), so it cannot be polled. It is removed at the next start of this connector.'
    : 'Another program takes the updates of this bot (409). End it, or give this connector a bot of its own. It is tried again.';

/** Such as ECONNREFUSED; only words that no address can be in. */
function codeOf(error: unknown): string {
  const { code, type, name } = ((error instanceof HttpError ? error.error : error) ?? {}) as Record<string, unknown>;
  const known = [code, type, name].find((each) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each));
  return typeof known === 'string' ? ` (${known})` : '';
}
