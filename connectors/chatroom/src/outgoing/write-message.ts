import { MessageFlags, Routes, type APIMessage } from 'discord-api-types/v10';
import { ServiceError, type Place } from '@svc/connector-kit';
import type { ChannelPlace } from './channel-place.ts';
import type { CallOptions, DiscordCall } from './discord-call.ts';
import type { SentMessages } from './sent-messages.ts';

/** A model's text must notify nobody, not even the person who is answered. */
export const callsNobody = { allowed_mentions: { parse: [], replied_user: false } } as const;

/** A message to post. `nonce`: Discord posts each only once, for some minutes. */
export type NewMessage = Place & { nonce: string; answers?: string } & Pick<CallOptions, 'files'> & { fields: object };

/** Posts a message and returns its id. */
export type WriteMessage = (message: NewMessage) => Promise<string>;

export type WriteMessageDeps = {
  call: DiscordCall;
  place: ChannelPlace;
  sent: SentMessages;
  isPrivate(channel: string): boolean;
};

/** Error code for a bot that may not read the history: it may reference no message, but may still post. */
const mayNameNone = 160_002;

function unnamed<T>(error: unknown, post: (more: object) => Promise<T>): Promise<T> {
  if (error instanceof ServiceError && error.details['reason'] === mayNameNone) return post({});
  throw error;
}

/** A reply references the message that it answers; in a private chat, only when there are newer messages. */
export function createWriteMessage({ call, place, sent, isPrivate }: WriteMessageDeps): WriteMessage {
  return async ({ chat, nonce, answers, files, fields, signal }) => {
    const channel = await place(chat, signal);
    const isQuoted =
      answers !== undefined && /^\d{15,21}$/.test(answers) && (!isPrivate(channel) || sent.hasLater(channel, answers));
    const body = {
      ...callsNobody,
      // Link previews are suppressed: while a reply grows, they would appear and disappear.
      flags: MessageFlags.SuppressEmbeds,
      nonce,
      enforce_nonce: true,
      ...fields,
    };
    const post = (more: object): Promise<APIMessage> => {
      const options = { body: { ...body, ...more }, ...(files !== undefined && { files }) };
      return call<APIMessage>('POST', Routes.channelMessages(channel), options, signal);
    };
    const named = { message_reference: { message_id: answers, fail_if_not_exists: false } };
    const { id } = isQuoted ? await post(named).catch((error: unknown) => unnamed(error, post)) : await post({});
    await sent.note(channel, id, nonce);
    return id;
  };
}
