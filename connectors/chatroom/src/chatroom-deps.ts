import type { Envelope, OpenReply, Outbound } from '@svc/connector-kit';

/** The bot's account, as which this instance writes. */
export type Bot = { id: string; username: string; applicationId: string };

/** The outgoing side, as far as the incoming side needs it. */
export type Outgoing = {
  openReply: OpenReply;
  send: NonNullable<Outbound['send']>;
  /** Someone posted a message in a channel. */
  saw(channel: string, messageId: string): void;
  /** The bot posted a message that belongs to no reply. Never rejects. */
  posted(channel: string, messageId: string): Promise<void>;
};

/** A place on a Discord server in which people write. */
export type Room = {
  id: string;
  name: string;
  guildId: string;
  guildName: string;
  /** The channel of a thread, or the forum of a post. */
  parentId?: string;
  kind: 'text' | 'forum' | 'thread' | 'voice';
};

/** The places on servers that the bot sees. Rejects with a `ServiceError` when Discord must be asked and is unreachable. */
export type Rooms = {
  list(): Promise<readonly Room[]>;
  /** Null for an unknown place, and for a private chat. */
  find(id: string): Promise<Room | null>;
};

/** The id of the channel that an envelope came from. */
export function channelOf({ channel_context }: Pick<Envelope, 'channel_context'>): string {
  const channel = channel_context?.['channelId'];
  if (typeof channel === 'string') return channel;
  throw new Error('An envelope names no channel in its channel_context.');
}
