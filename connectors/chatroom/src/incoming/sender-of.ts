import type { Sender } from '@svc/contract/envelope.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { APIMessage, APIUser } from 'discord-api-types/v10';

type Said = Pick<APIMessage, 'author' | 'webhook_id' | 'application_id'>;

/**
 * The sender. A webhook chooses the name of each message, so the account counts, not the name: a person whose messages a program reposts is not
 * recognized by them. A bot answers a command through its application's webhook; that answer is the bot's own.
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
