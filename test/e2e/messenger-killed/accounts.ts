import type { TelegramServer } from '@svc/testing/telegram-server/index.ts';
import { short, type Platform } from '../killed-chat/find-broken.ts';
import type { TelegramPlace } from './places.ts';

/** The platform's answer to a process that was killed this soon afterwards may not have been recorded. */
const unnotedMs = 2000;

/** Telegram as `findBroken` sees it; `ended`: when the writing process was killed. */
export const seenOf = (server: TelegramServer, ended: readonly number[]): Platform<TelegramPlace> => ({
  replies: ({ chat, thread }) => server.replies(chat, thread),
  nameOf: ({ chat }) => chat,
  isUnavoidable: ({ chat }, { id }) => isUnavoidable(server, chat, Number(id), ended),
  timeline: ({ chat }) => timeline(server, chat),
});

/** Telegram cannot be asked whether a message was sent: when the answer to a call was lost, the message is sent again. */
function isUnavoidable(server: TelegramServer, chat: number, id: number, ended: readonly number[]): boolean {
  const call = server.calls.find(
    ({ params, made, method }) => Number(params['chat_id']) === chat && made.includes(id) && method.startsWith('send'),
  );
  if (call === undefined) return false;
  return !call.isAnswered || ended.some((at) => at > call.at && at - call.at < unnotedMs);
}

const lastCalls = 80;

function timeline({ calls }: TelegramServer, chat: number): string {
  const own = calls.filter(({ method, params }) => Number(params['chat_id']) === chat && method !== 'sendChatAction');
  const line = ({ at, method, params, status, description, made, isAnswered: heard }: (typeof own)[number]): string => {
    const {
      message_id: id,
      text,
      reply_parameters: reply,
    } = params as { message_id?: number; text?: string; reply_parameters?: unknown };
    const about = [id, text === undefined ? undefined : short(text), reply === undefined ? undefined : JSON.stringify(reply)];
    return `${(at / 1000).toFixed(1)} ${method} ${about.filter((each) => each !== undefined).join(' ')} → ${status ?? 'cut'} ${description ?? made.join(',')}${heard ? '' : ' (not heard)'}`;
  };
  return [`the last writes to ${chat}:`, ...own.slice(-lastCalls).map(line)].join('\n');
}
