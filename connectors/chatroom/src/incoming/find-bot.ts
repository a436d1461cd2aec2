import type { REST } from '@discordjs/rest';
import type { StartContext } from '@svc/connector-kit';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { Routes, type RESTGetAPIOAuth2CurrentApplicationResult, type RESTGetAPIUserResult } from 'discord-api-types/v10';
import type { Bot } from '../chatroom-deps.ts';
import { developerPage, toDiscordFault } from './discord-fault.ts';

/** Application flags that allow reading message contents, for a bot on few servers and for a verified bot. */
const mayReadMessages = (1 << 18) | (1 << 19);

const missingIntent = `This bot cannot read messages: turn on "Message Content Intent" at ${developerPage} (your application, "Bot", "Privileged Gateway Intents"), and save.`;

/** The bot of a token. When Discord is unreachable, it is the bot of the last start. */
export async function findBot(
  { state, log }: Pick<StartContext, 'state' | 'log'>,
  rest: REST,
  token: string,
  signal: AbortSignal,
): Promise<Bot> {
  const known = toBot(await state.get('bot'));
  try {
    const bot = await askForBot(rest, log, signal);
    // A full disk does not keep the channel closed.
    await state.set('bot', bot).catch((error: unknown) => {
      log('error', 'the bot of this connector could not be saved', { error: errorText(error) });
    });
    return bot;
  } catch (error) {
    signal.throwIfAborted();
    const fault = toDiscordFault(error);
    if (known === null || known.id !== idInToken(token) || !isPassing(fault)) throw fault;
    log('warn', 'Discord cannot be reached yet; the channel is opened anyway', { error: errorText(fault) });
    return known;
  }
}

async function askForBot(rest: REST, log: StartContext['log'], signal: AbortSignal): Promise<Bot> {
  const user = (await rest.get(Routes.user(), { signal })) as RESTGetAPIUserResult;
  const application = (await rest.get(Routes.oauth2CurrentApplication(), {
    signal,
  })) as RESTGetAPIOAuth2CurrentApplicationResult;
  const { flags } = application;
  // Only a warning: the gateway refuses such a bot itself, and a compatible server may know no flags.
  if (typeof flags === 'number' && (flags & mayReadMessages) === 0) log('warn', missingIntent);
  return { id: user.id, username: user.username, applicationId: application.id };
}

/** A token begins with the id of its bot. */
export function idInToken(token: string): string {
  const [first = ''] = token.split('.');
  return Buffer.from(first, 'base64').toString('latin1');
}

function toBot(value: unknown): Bot | null {
  if (!isRecord(value)) return null;
  const { id, username, applicationId } = value;
  if (typeof id !== 'string' || typeof username !== 'string' || typeof applicationId !== 'string') return null;
  return { id, username, applicationId };
}
