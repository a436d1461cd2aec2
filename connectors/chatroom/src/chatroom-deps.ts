import type { Envelope, OpenReply, Outbound } from '@svc/connector-kit';

/** The account that this instance speaks as. */
export type Bot = { id: string; username: string; applicationId: string };

/** All that leaves for Discord, as what comes in needs it. */
export type Outgoing = {
  openReply: OpenReply;
  send: NonNullable<Outbound['send']>;
  /** A message was posted in a channel, by anybody. */
  saw(channel: string, messageId: string): void;
};

/** A place that people write in, of a server of Discord. */
export type Room = {
  id: string;
  name: string;
  guildId: string;
  guildName: string;
  /** Of a thread or a post of a forum: where it is. */
  parentId?: string;
  kind: 'text' | 'forum' | 'thread' | 'voice';
};

/** The places of servers that the bot sees. They reject with a `ServiceError` when Discord has to be asked and is away. */
export type Rooms = {
  list(): Promise<readonly Room[]>;
  /** Null for one that is not there, and for a private chat. */
  find(id: string): Promise<Room | null>;
};

/** The id of the channel that an envelope came from. */
export function channelOf({ channel_context }: Pick<Envelope, 'channel_context'>): string {
  const channel = channel_context?.['channelId'];
  if (typeof channel === 'string') return channel;
  throw new Error('An envelope names no channel in its channel_context.');
}
