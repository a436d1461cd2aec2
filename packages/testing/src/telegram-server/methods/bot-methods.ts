import { ApiError, badRequest, type TelegramUpdate } from '../api-types.ts';
import { toFileFields } from '../create-files.ts';
import type { Methods } from './method-table.ts';

const maxDownload = 20 * 1024 * 1024;

type Scope = { scope?: object; language_code?: string };
const scopeKey = ({ scope, language_code = '' }: Scope): string => JSON.stringify([scope ?? { type: 'default' }, language_code]);

/** Methods about the bot itself, its updates, chats and files. */
export const botMethods: Methods = {
  getMe: ({ bot }) => ({
    ...bot.user,
    can_join_groups: true,
    can_read_all_group_messages: bot.readsAllMessages,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
  }),
  getUpdates({ updates, webhook }, call): Promise<TelegramUpdate[]> {
    if (webhook.isSet)
      throw new ApiError(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    return updates.poll({ ...(call.params as object), gone: call.gone });
  },
  setWebhook: ({ webhook }, call) => webhook.set(call.params as { url: string }),
  deleteWebhook: ({ webhook }, call) => webhook.set({ ...(call.params as object), url: '' }),
  getWebhookInfo: ({ webhook }) => webhook.info(),
  logOut: () => true,
  close: () => true,
  getChat({ chats }, call) {
    const { chat } = chats.writable((call.params as { chat_id: number }).chat_id);
    const gifts = ['unlimited_gifts', 'limited_gifts', 'unique_gifts', 'premium_subscription', 'gifts_from_channels'];
    return {
      ...chat,
      accent_color_id: 0,
      max_reaction_count: 11,
      accepted_gift_types: Object.fromEntries(gifts.map((name) => [name, false])),
    };
  },
  getChatMember({ chats, bot }, call) {
    const { chat_id, user_id } = call.params as { chat_id: number; user_id: number };
    const { members } = chats.writable(chat_id);
    const user = user_id === bot.user.id ? bot.user : chats.users.get(user_id);
    if (user === undefined) throw badRequest('invalid user_id specified');
    return { status: members.has(user_id) || user === bot.user ? 'member' : 'left', user };
  },
  leaveChat({ chats }, call) {
    const state = chats.writable((call.params as { chat_id: number }).chat_id);
    state.forbidden = `bot is not a member of the ${state.chat.type} chat`;
    return true;
  },
  getFile({ files }, call) {
    const file = files.byId((call.params as { file_id: string }).file_id);
    if (file.size > maxDownload) throw badRequest('file is too big');
    return { ...toFileFields(file), file_path: file.path };
  },
  setMyCommands({ bot }, call) {
    const { commands, ...scope } = call.params as Scope & { commands: { command: string; description: string }[] };
    if (commands.length > 100) throw badRequest('BOT_COMMANDS_TOO_MUCH');
    if (commands.some(({ command }) => !/^[a-z\d_]{1,32}$/.test(command))) throw badRequest('BOT_COMMAND_INVALID');
    if (commands.some(({ description }) => description.length < 1 || description.length > 256))
      throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
    bot.commands.set(scopeKey(scope), commands);
    return true;
  },
  getMyCommands: ({ bot }, call) => bot.commands.get(scopeKey(call.params as Scope)) ?? [],
  deleteMyCommands({ bot }, call) {
    bot.commands.delete(scopeKey(call.params as Scope));
    return true;
  },
};
