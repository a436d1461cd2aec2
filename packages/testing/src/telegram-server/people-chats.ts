import type { MessageContent, TelegramChat, TelegramMessage, TelegramUser } from './api-types.ts';
import type { ChatState } from './create-chats.ts';
import type { Platform } from './methods/method-table.ts';

/** The chats that people open, and changes of them. */
export type PeopleChats = {
  /** A person with a private chat with the bot, which has the same id. */
  person(name: string, more?: Partial<TelegramUser>): TelegramUser;
  /** A basic group with the bot in it. */
  group(title: string, members: readonly TelegramUser[]): TelegramChat;
  /** `isForum`: with topics. Its message ids begin at 1, as in every supergroup. */
  supergroup(title: string, members: readonly TelegramUser[], isForum?: boolean): TelegramChat;
  /** Returns the thread id, which is that of the service message. */
  openTopic(chat: number, from: TelegramUser, name: string): number;
  closeTopic(chat: number, thread: number): void;
  /** The person blocks or unblocks the bot. */
  block(person: TelegramUser): void;
  unblock(person: TelegramUser): void;
  /** The bot is removed from a group. */
  kick(chat: number, by: TelegramUser): void;
  join(chat: number, person: TelegramUser): void;
  /** A group becomes a supergroup, with another id; nothing can be written to the old one. */
  migrate(chat: number, by: TelegramUser): TelegramChat;
};

export function createPeopleChats(platform: Platform): PeopleChats {
  const { bot, chats, updates } = platform;
  let last = 0;

  const tellMember = ({ chat }: ChatState, from: TelegramUser, before: string, after: string): void => {
    const as = (status: string) => ({ user: bot.user, status, ...(status === 'kicked' && { until_date: 0 }) });
    const date = Math.floor(Date.now() / 1000);
    updates.add('my_chat_member', { chat, from, date, old_chat_member: as(before), new_chat_member: as(after) });
  };
  const open = (chat: TelegramChat, members: readonly TelegramUser[]): TelegramChat => {
    const state = chats.open(chat, members);
    const [first] = members;
    if (first !== undefined) tellMember(state, first, 'left', 'member');
    return chat;
  };
  const say = (chat: number, from: TelegramUser, content: MessageContent): TelegramMessage => {
    const { message } = chats.add({ chat, from, ...content });
    updates.add('message', message);
    return message;
  };

  return {
    person(name, more) {
      const user = { id: 5_000_000_000 + ++last, is_bot: false, first_name: name, language_code: 'en', ...more };
      chats.users.set(user.id, user);
      const username = user.username === undefined ? {} : { username: user.username };
      chats.open({ id: user.id, type: 'private', first_name: name, ...username }, [user]);
      return user;
    },
    group: (title, members) => open({ id: -(400_000 + ++last), type: 'group', title }, members),
    supergroup: (title, members, isForum = false) =>
      open({ id: superId(++last), type: 'supergroup', title, ...(isForum && { is_forum: true }) }, members),
    openTopic(chat, from, name) {
      const content = { forum_topic_created: { name, icon_color: 7_322_096 } };
      const stored = chats.add({ chat, from, ...content });
      const thread = stored.message.message_id;
      chats.state(chat).topics.set(thread, name);
      stored.message = { ...stored.message, message_thread_id: thread, is_topic_message: true };
      updates.add('message', stored.message);
      return thread;
    },
    closeTopic: (chat, thread) => void chats.state(chat).closedTopics.add(thread),
    block(person) {
      const state = chats.state(person.id);
      state.forbidden = 'bot was blocked by the user';
      tellMember(state, person, 'member', 'kicked');
    },
    unblock(person) {
      const state = chats.state(person.id);
      state.forbidden = null;
      tellMember(state, person, 'kicked', 'member');
    },
    kick(chat, by) {
      const state = chats.state(chat);
      state.forbidden = `bot was kicked from the ${state.chat.type} chat`;
      tellMember(state, by, 'member', 'kicked');
    },
    join(chat, person) {
      chats.state(chat).members.add(person.id);
      say(chat, person, { new_chat_members: [person] });
    },
    migrate(chat, by) {
      const old = chats.state(chat);
      const next: TelegramChat = { id: superId(++last), type: 'supergroup', title: old.chat.title ?? '' };
      const members = [...old.members].flatMap((id) => chats.users.get(id) ?? []);
      chats.open(next, members);
      say(chat, by, { migrate_to_chat_id: next.id });
      old.migratedTo = next.id;
      say(next.id, by, { migrate_from_chat_id: chat });
      return next;
    },
  };
}

const superId = (n: number): number => -(1_001_000_000_000 + n);
