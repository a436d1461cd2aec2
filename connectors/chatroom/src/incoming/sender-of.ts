import type { Sender } from '@svc/contract/envelope.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { APIMessage, APIUser } from 'discord-api-types/v10';

type Said = Pick<APIMessage, 'author' | 'webhook_id' | 'application_id'>;

/**
 * Who said it. A webhook chooses the name of each message, so it is the account, and not who it says that it is: a person whose messages a program
 * posts again is not known by them. The answer of a bot to a command is written by way of its application, and is the bot's.
 */
export const senderOf = ({ author, webhook_id: webhook, application_id }: Said): Sender =>
  (webhook ?? null) === null || webhook === application_id
    ? personOf(author)
    : { raw_id: `webhook:${webhook}`, raw_username: shown(author.username), is_bot: true };

export const personOf = ({ id, username, bot }: Pick<APIUser, 'id' | 'username' | 'bot'>): Sender => ({
  raw_id: id,
  raw_username: shown(username),
  ...(bot === true && { is_bot: true }),
});

const shown = (name: string): string => (name === '' ? 'nameless' : cutText(name, 256));
