import type { Clock } from '@svc/service-kit/clock.ts';
import type { DiscordUser, Snowflake } from './api-types.ts';
import type { World } from './create-world.ts';
import type { Channel, MessageContent, StoredMessage } from './model.ts';

export type MessageToAdd = Partial<Omit<StoredMessage, 'id' | 'reactions' | 'versions'>> & {
  id?: Snowflake;
  channel: Channel;
  author: DiscordUser;
};

export type Messages = {
  add(message: MessageToAdd): StoredMessage;
  /** An existing message; undefined when it does not exist or was deleted. */
  find(channel: Channel, id: Snowflake | undefined): StoredMessage | undefined;
  rewrite(message: StoredMessage, changes: Partial<MessageContent>): void;
};

export function createMessages(world: World, clock: Clock): Messages {
  return {
    add(given) {
      const message: StoredMessage = { ...emptyMessage(), id: world.nextId(), sentAt: clock.now(), ...given };
      given.channel.messages.set(message.id, message);
      return message;
    },
    find(channel, id) {
      const message = channel.messages.get(id ?? '');
      return message === undefined || message.isDeleted ? undefined : message;
    },
    rewrite(message, changes) {
      const { content, embeds, components, attachments } = message;
      message.versions.push({ content, embeds, components, attachments });
      Object.assign(message, changes, { editedAt: clock.now() });
    },
  };
}

const emptyMessage = (): Omit<StoredMessage, 'id' | 'channel' | 'author' | 'sentAt'> => ({
  content: '',
  embeds: [],
  components: [],
  attachments: [],
  type: 0,
  flags: 0,
  editedAt: null,
  nonce: null,
  replyTo: null,
  forwards: null,
  pings: { users: [], roles: [], everyone: false },
  thread: null,
  interaction: null,
  applicationId: null,
  onlyFor: null,
  isPinned: false,
  reactions: new Map(),
  versions: [],
  isDeleted: false,
});
