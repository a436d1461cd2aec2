import type { StartContext } from '@svc/connector-kit/connector.ts';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { User } from 'grammy/types';
import type { TelegramApi } from '../telegram-api.ts';

type StoredBot = { id: number; username: string; first_name: string };

/** The bot that a token is of. Where Telegram cannot be reached it is the one that it was at the last start. */
export async function findBot(
  { state, log, signal }: Pick<StartContext, 'state' | 'log' | 'signal'>,
  api: TelegramApi,
  token: string,
): Promise<User> {
  const known = await state.get<StoredBot>('bot');
  try {
    const bot = await api.ask('getMe', {}, signal);
    await state.set('bot', { id: bot.id, username: bot.username, first_name: bot.first_name });
    return bot;
  } catch (error) {
    const isSame = known !== undefined && token.startsWith(`${known.id}:`);
    if (!isSame || !isPassing(error)) throw error;
    log('warn', 'the channel is opened before Telegram can be reached', { error: errorText(error) });
    return { ...known, is_bot: true };
  }
}
