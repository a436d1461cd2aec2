import type { DiscordAttachment, DiscordEmbed, DiscordUser } from './api-types.ts';
import type { FileToAdd } from './create-files.ts';
import { pingsOf } from './pings-of.ts';
import type { Platform } from './platform.ts';
import type { Channel, StoredMessage } from './model.ts';

export type Said = {
  from: DiscordUser;
  channel: Channel;
  text?: string;
  files?: readonly FileToAdd[];
  embeds?: DiscordEmbed[];
  replyTo?: StoredMessage;
  /** Whether a reply notifies the author of the message, as in clients by default. */
  pingsAuthor?: boolean;
  forwards?: StoredMessage;
  /** A kind other than text: 7 is a join, 6 a pin. */
  type?: number;
};

/** Actions of people in channels. Each creates the events for the bots. */
export type People = {
  say(said: Said): StoredMessage;
  edit(message: StoredMessage, text: string): void;
  /** The embed of a link arrives a little later, as an update without an edit. */
  addEmbed(message: StoredMessage, embed: DiscordEmbed): void;
  remove(...messages: StoredMessage[]): void;
  react(message: StoredMessage, from: DiscordUser, emoji: string): void;
  unreact(message: StoredMessage, from: DiscordUser, emoji: string): void;
  /** Shows that a person is typing. */
  type(channel: Channel, from: DiscordUser): void;
};

export function createPeople({ world, messages, files, announce }: Platform): People {
  const attach = (channel: Channel, added: readonly FileToAdd[] = []): DiscordAttachment[] =>
    added.map((file) => files.add(file, channel));

  return {
    say({ from, channel, text = '', replyTo, pingsAuthor = true, type, ...said }) {
      const replied = pingsAuthor ? replyTo?.author : undefined;
      const message = messages.add({
        channel,
        author: from,
        content: text,
        embeds: said.embeds ?? [],
        attachments: attach(channel, said.files),
        type: type ?? (replyTo === undefined ? 0 : 19),
        replyTo: replyTo?.id ?? null,
        forwards: said.forwards ?? null,
        pings: pingsOf(world, channel, text, { allowed: null, replied }),
      });
      announce.message('MESSAGE_CREATE', message);
      return message;
    },
    edit(message, text) {
      messages.rewrite(message, { content: text });
      message.pings = pingsOf(world, message.channel, text, { allowed: null });
      announce.message('MESSAGE_UPDATE', message);
    },
    addEmbed(message, embed) {
      message.embeds = [...message.embeds, { type: 'link', ...embed }];
      announce.message('MESSAGE_UPDATE', message);
    },
    remove(...removed) {
      for (const message of removed) message.isDeleted = true;
      announce.deleted(removed);
    },
    react(message, from, emoji) {
      message.reactions.set(emoji, (message.reactions.get(emoji) ?? new Set()).add(from));
      announce.reaction(true, message, from, emoji);
    },
    unreact(message, from, emoji) {
      const users = message.reactions.get(emoji);
      users?.delete(from);
      if (users?.size === 0) message.reactions.delete(emoji);
      announce.reaction(false, message, from, emoji);
    },
    type(channel, from) {
      channel.typings.push(from);
      announce.typing(channel, from);
    },
  };
}
