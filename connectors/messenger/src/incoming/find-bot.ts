import type { StartContext } from '@svc/connector-kit/connector.ts';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { User } from 'grammy/types';
import type { TelegramApi } from '../telegram-api.ts';

type StoredBot = { id: number; username: string; first_name: string };

/**
 * The bot of an instance. `mark` is the prefix of its message and update ids: each bot counts those of a private chat from the beginning,
 * so without it a replacement bot would reuse ids of messages that were answered long ago. The first bot of an instance has none.
 */
export type FoundBot = { bot: User; mark: string };

/** The bot of a token. When Telegram is unreachable, it is the bot of the last start. */
export async function findBot(
  { state, log, signal }: Pick<StartContext, 'state' | 'log' | 'signal'>,
  api: TelegramApi,
  token: string,
): Promise<FoundBot> {
  const known = await state.get<StoredBot>('bot');
  const first = (await state.get<number>('first-bot')) ?? known?.id;
  const found = (bot: User): FoundBot => ({ bot, mark: (first ?? bot.id) === bot.id ? '' : `b${bot.id}-` });
  /** A full disk does not keep the channel closed. */
  const keep = async ({ id, username, first_name }: User): Promise<void> => {
    const isKept = first !== undefined && known?.id === id && known.username === username && known.first_name === first_name;
    if (isKept) return;
    await state
      .change({ bot: { id, username: username ?? '', first_name }, 'first-bot': first ?? id })
      .catch((error: unknown) => {
        log('error', 'the bot of this connector could not be saved', { error: errorText(error) });
      });
  };
  try {
    const bot = await api.ask('getMe', {}, signal);
    await keep(bot);
    return found(bot);
  } catch (error) {
    const isSame = known !== undefined && token.startsWith(`${known.id}:`);
    if (!isSame || !isPassing(error)) throw error;
    log('warn', 'Telegram cannot be reached yet; the channel is opened anyway', { error: errorText(error) });
    return found({ ...known, is_bot: true });
  }
}
