import { DiscordAPIError, HTTPError, RateLimitError } from '@discordjs/rest';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

export const developerPage = 'https://discord.com/developers/applications';
export const tokenHelp = `Get one at ${developerPage} (your application, "Bot", "Reset Token"), then run ./svc connector config NAME --secret bot_token_secret_key.`;
/** Maximum length of a refusal, which is shown and logged. */
const longestRefusal = 300;

/** Describes an error of Discord, or of the connection to it, for the operator. */
export function toDiscordFault(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof RateLimitError) return busy(error.timeToReset);
  if (error instanceof DiscordAPIError) return refusal(error);
  if (error instanceof HTTPError) return new ServiceError('unavailable', `Discord answered ${error.status}. Retrying.`);
  return new ServiceError('unavailable', `Discord cannot be reached${codeOf(error)}. Retrying.`);
}

const busy = (ms: number): ServiceError =>
  new ServiceError('busy', 'Discord is limiting the rate of requests.', { details: { retry_after_s: Math.max(0.1, ms / 1000) } });

function refusal({ status, code, message }: DiscordAPIError): ServiceError {
  const said = `Discord answered ${status}: ${cutText(message, longestRefusal)} (${code}).`;
  switch (status) {
    case 401:
      return new ServiceError('unauthorized', `Discord rejected this token (401). ${tokenHelp}`);
    case 403:
      return new ServiceError('forbidden', said);
    case 404:
      return new ServiceError('not_found', said);
    case 429:
      return busy(1000);
    default:
      return new ServiceError(status >= 500 ? 'unavailable' : 'unprocessable', said);
  }
}

/** A system error code such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  const { code, name, cause } = (error ?? {}) as Record<string, unknown>;
  const inner = (cause as { code?: unknown } | undefined)?.code;
  const known = [code, inner, name].find((each) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each));
  return typeof known === 'string' && known !== 'Error' ? ` (${known})` : '';
}
