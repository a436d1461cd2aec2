import { DiscordAPIError, HTTPError, RateLimitError } from '@discordjs/rest';
import { ServiceError, type ErrorCode } from '@svc/connector-kit';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Maximum length of a refusal, which is shown and logged. */
const longestRefusal = 300;

/** Converts Discord's errors to those that the reply writer expects. */
export function toFault(error: unknown): Error {
  if (error instanceof RateLimitError) return rateLimit(error);
  if (error instanceof DiscordAPIError) return refusal(error);
  if (error instanceof HTTPError) return new Error(`Discord answered ${error.status}: ${error.message}`.trim());
  if (error instanceof Error && error.message.startsWith('Expected token')) return forbidden(badToken);
  const code = codeOf(error);
  if (code !== null && notSent.has(code)) return paused(`Discord cannot be reached (${code}).`, 2000);
  return new Error(`Discord did not answer${code === null ? '' : ` (${code})`}.`);
}

/** `retryAfter` comes from the answer, `timeToReset` is the rest of its limit: the longer one counts. */
const rateLimit = ({ retryAfter, timeToReset, global: isGlobal }: RateLimitError): ServiceError =>
  paused('Discord is limiting the rate of requests.', Math.max(retryAfter, timeToReset, 50), isGlobal);

const paused = (text: string, ms: number, isGlobal = false): ServiceError =>
  new ServiceError('busy', text, { details: { retry_after_s: ms / 1000, ...(isGlobal && { global: true }) } });

const forbidden = (text: string): ServiceError => new ServiceError('forbidden', text);

const badToken =
  "Discord no longer accepts the bot's token. Set a new one (./svc connector config NAME --secret bot_token_secret_key).";

/** Discord's codes that say more than the status, with a message that says what to do. */
const known: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  10003: [
    'unprocessable',
    'Discord has no such channel: it was deleted, or the ID is wrong. For a private message, use user:ID.',
  ],
  10004: ['forbidden', 'The bot is no longer on that server. Invite it again.'],
  10008: ['not_found', 'The message no longer exists.'],
  10013: ['unprocessable', 'Discord has no such user.'],
  20028: ['busy', 'The channel is in slow mode. Wait before you send the next message.'],
  30007: ['unprocessable', "Discord's limit for this channel or server is reached."],
  40005: ['too_large', 'The file is larger than Discord accepts.'],
  50001: ['forbidden', 'The bot cannot see that channel. Give its role "View Channel" there.'],
  50006: ['unprocessable', 'Discord does not accept an empty message.'],
  50007: [
    'forbidden',
    'That person accepts no private messages from the bot: they must share a server with it and allow direct messages there.',
  ],
  50008: ['unprocessable', 'That channel cannot hold messages. Name one of its threads or posts.'],
  50013: [
    'forbidden',
    'The bot has no permission to do that there. Give its role "Send Messages", "Send Messages in Threads", "Attach Files", "Read Message History" and "Add Reactions".',
  ],
  50024: ['unprocessable', 'That channel cannot hold messages. Name one of its threads or posts.'],
  50033: ['unprocessable', 'Discord delivers no private messages to that account.'],
  160005: ['forbidden', 'The thread is locked. Unlock it, or give the bot\'s role "Manage Threads".'],
  200000: ['unprocessable', "The server's AutoMod has blocked the message."],
  200001: ['unprocessable', "The server's AutoMod has blocked the message."],
};

/** `reason`: Discord's own code. */
function refusal({ status, code, message }: DiscordAPIError): Error {
  const said = `Discord refused it: ${cutText(message, longestRefusal)}`;
  const [as, help] = known[code] ?? [];
  if (status === 429) return paused(help ?? said, 1000);
  if (status >= 500) return new Error(said);
  if (as !== undefined && help !== undefined)
    return new ServiceError(as, `${help} (${code})`, { details: { reason: Number(code) } });
  if (status === 401) return forbidden(badToken);
  if (status === 403) return new ServiceError('forbidden', `${said} (${code})`, { details: { reason: Number(code) } });
  return new ServiceError('unprocessable', `${said} (${code})`, { details: { reason: Number(code) } });
}

/** No connection was made, so nothing can have been accepted. */
const notSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, name, cause } = error as Record<string, unknown>;
  const found = [code, codeOf(cause), name].find((each) => typeof each === 'string' && /^[\w-]{1,40}$/.test(each));
  return typeof found === 'string' && found !== 'Error' ? found : null;
}
