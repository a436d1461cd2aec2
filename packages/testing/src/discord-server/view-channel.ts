import type { DiscordComponent, DiscordEmbed, Snowflake } from './api-types.ts';
import type { Channel, StoredMessage } from './model.ts';

export type SeenButton = { label: string; id: string | undefined; style: number; isDisabled: boolean; url: string | undefined };

/** A message as people see it. */
export type SeenMessage = {
  id: Snowflake;
  from: string;
  isBot: boolean;
  text: string;
  replyTo: Snowflake | undefined;
  /** Whom it notifies: names of people, names of roles with `@&`, `@everyone`. */
  pings: string[];
  embeds: DiscordEmbed[];
  files: { name: string; size: number; url: string }[];
  buttons: SeenButton[];
  /** By name: `👍 ann`. */
  reactions: string[];
  nonce: string | undefined;
  /** Its earlier texts. */
  before: string[];
  /** Whether only one person sees it. */
  isPrivate: boolean;
  /** Whether it shows that the bot is thinking. */
  isLoading: boolean;
  /** The interaction that it answers. */
  interaction: Snowflake | undefined;
  isDeleted: boolean;
};

/** All messages of a channel in order, including deleted ones. */
export const viewChannel = (channel: Channel): SeenMessage[] => [...channel.messages.values()].map(viewMessage);

export function viewMessage(message: StoredMessage): SeenMessage {
  const { id, author, content, channel, flags, pings } = message;
  const roleName = (id: Snowflake): string => `@&${channel.guild?.roles.find((role) => role.id === id)?.name ?? id}`;
  return {
    id,
    from: author.username,
    isBot: author.bot,
    text: content,
    replyTo: message.replyTo ?? undefined,
    pings: [...(pings.everyone ? ['@everyone'] : []), ...pings.roles.map(roleName), ...pings.users.map((one) => one.username)],
    embeds: message.embeds,
    files: message.attachments.map(({ filename: name, size, url }) => ({ name, size, url })),
    buttons: message.components.flatMap((row) => row.components ?? [row]).flatMap(toButton),
    reactions: [...message.reactions].flatMap(([emoji, users]) => [...users].map((one) => `${emoji} ${one.username}`)),
    nonce: message.nonce === null ? undefined : String(message.nonce),
    before: message.versions.map((version) => version.content),
    isPrivate: message.onlyFor !== null,
    isLoading: (flags & 128) !== 0,
    interaction: message.interaction?.id,
    isDeleted: message.isDeleted,
  };
}

const toButton = ({ type, label = '', custom_id: id, style = 0, disabled = false, url }: DiscordComponent): SeenButton[] =>
  type === 2 ? [{ label, id, style, isDisabled: disabled, url }] : [];
