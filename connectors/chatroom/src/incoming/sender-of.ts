import type { Sender } from '@svc/contract/envelope.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { APIMessage, APIUser } from 'discord-api-types/v10';

/** Who said it. A webhook chooses the name of each message, so it is the account, and not who it says that it is. */
export const senderOf = ({ author, webhook_id }: Pick<APIMessage, 'author' | 'webhook_id'>): Sender =>
  webhook_id === undefined
    ? personOf(author)
    : { raw_id: `webhook:${webhook_id}`, raw_username: shown(author.username), is_bot: true };

export const personOf = ({ id, username, bot }: Pick<APIUser, 'id' | 'username' | 'bot'>): Sender => ({
  raw_id: id,
  raw_username: shown(username),
  ...(bot === true && { is_bot: true }),
});

const shown = (name: string): string => (name === '' ? 'nameless' : cutText(name, 256));
