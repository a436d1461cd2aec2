import { MessageFlags, Routes, type APIMessage } from 'discord-api-types/v10';
import type { Place } from '@svc/connector-kit';
import type { ChannelPlace } from './channel-place.ts';
import type { CallOptions, DiscordCall } from './discord-call.ts';
import type { SentMessages } from './sent-messages.ts';

/** Nobody is called by what a model writes, not even who is answered. */
export const callsNobody = { allowed_mentions: { parse: [], replied_user: false } } as const;

/** A message to be posted. `nonce`: Discord posts it once under each, for some minutes. */
export type NewMessage = Place & { nonce: string; answers?: string } & Pick<CallOptions, 'files'> & { fields: object };

/** Posts a message and gives its id. */
export type WriteMessage = (message: NewMessage) => Promise<string>;

export type WriteMessageDeps = {
  call: DiscordCall;
  place: ChannelPlace;
  sent: SentMessages;
  isPrivate(channel: string): boolean;
};

/** A reply names the message that it answers, with one person only when there are newer ones. */
export function createWriteMessage({ call, place, sent, isPrivate }: WriteMessageDeps): WriteMessage {
  return async ({ chat, nonce, answers, files, fields, signal }) => {
    const channel = await place(chat, signal);
    const isQuoted =
      answers !== undefined && /^\d{15,21}$/.test(answers) && (!isPrivate(channel) || sent.hasLater(channel, answers));
    const body = {
      ...callsNobody,
      // Pages that a text names are not shown below it: while a reply grows they would come and go.
      flags: MessageFlags.SuppressEmbeds,
      nonce,
      enforce_nonce: true,
      ...(isQuoted && { message_reference: { message_id: answers, fail_if_not_exists: false } }),
      ...fields,
    };
    const options = { body, ...(files !== undefined && { files }) };
    const { id } = await call<APIMessage>('POST', Routes.channelMessages(channel), options, signal);
    await sent.note(channel, id, nonce);
    return id;
  };
}
