import { ServiceError } from '@svc/service-kit/service-error.ts';
import { GrammyError, HttpError } from 'grammy';

const tokenHelp =
  'Get the token from @BotFather (/mybots, the bot, "API Token"), then run ./svc connector config NAME --secret bot_token_secret_key.';

/**
 * Describes for the operator why no updates arrive. The original error is not included, because it contains the address of the request with
 * the token.
 */
export function toPollFault(error: unknown): ServiceError {
  if (error instanceof GrammyError) return refusal(error);
  return new ServiceError('unavailable', `Telegram cannot be reached${codeOf(error)}. Retrying.`);
}

function refusal({ error_code: status, description, parameters }: GrammyError): ServiceError {
  switch (status) {
    case 401:
    case 404:
      return new ServiceError('unauthorized', `Telegram rejected this token (${status}). ${tokenHelp}`);
    case 409:
      return new ServiceError('conflict', conflictText(description));
    case 429:
      return new ServiceError('busy', 'Telegram is limiting the rate of requests.', {
        details: { retry_after_s: parameters.retry_after ?? 1 },
      });
    default:
      return new ServiceError(status >= 500 ? 'unavailable' : 'unprocessable', `Telegram answered ${status}: ${description}`);
  }
}

const conflictText = (description: string): string =>
  /webhook/i.test(description)
    ? 'A webhook is set for this bot (409), so it cannot be polled. Restart this connector to remove the webhook.'
    : 'Another program is receiving the updates of this bot (409). Stop it, or give this connector its own bot. Retrying.';

/** A system error code such as ECONNREFUSED; only words that cannot contain an address. */
function codeOf(error: unknown): string {
  const { code, type, name } = ((error instanceof HttpError ? error.error : error) ?? {}) as Record<string, unknown>;
  const known = [code, type, name].find((each) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each));
  return typeof known === 'string' ? ` (${known})` : '';
}
