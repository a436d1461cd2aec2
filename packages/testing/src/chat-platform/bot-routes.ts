import type { Clock } from '@svc/service-kit/clock.ts';
import { toPublic, type ChatHistory } from './chat-history.ts';
import { createChatLimits, type ChatLimit } from './chat-limits.ts';
import { PlatformRefusal, type FileToSay, type PlatformButton, type PlatformUser, type StoredMessage } from './platform-types.ts';

export const bot: PlatformUser = { id: 'bot', name: 'The bot', bot: true };

export type PlatformRules = {
  /** Longest text of a message, in UTF-16 units. */
  maxText: number;
  /** A nonce that was used before in the chat returns the existing message. */
  dedupesNonces: boolean;
  /** `GET /chats/:chat/messages?nonce=` returns the bot's message with that nonce. */
  findsNonces: boolean;
  /** How fast the bot may write to one chat. */
  limit: ChatLimit;
};

/** An authenticated request, with its whole body. */
export type BotCall = {
  method: string;
  path: string;
  query: URLSearchParams;
  json: Record<string, unknown>;
  body: Buffer;
  type: string;
};
type Answer = object | Uint8Array;
type Run = (call: BotCall, first: string, second: string) => Answer;

/** The routes of the bot, except updates. @throws PlatformRefusal */
export function createBotRoutes(history: ChatHistory, rules: PlatformRules, clock: Clock): (call: BotCall) => Answer {
  const limits = createChatLimits(rules, clock);
  const takeTurn = (chatId: string): void => {
    history.chat(chatId);
    const waitMs = limits.waitFor(chatId);
    if (waitMs > 0) throw new PlatformRefusal(429, 'too_many_requests', waitMs / 1000);
  };
  const textIn = ({ json: { text } }: BotCall): string => {
    if (typeof text !== 'string' || text.trim() === '') throw new PlatformRefusal(400, 'text_is_empty');
    if (text.length > rules.maxText) throw new PlatformRefusal(400, 'text_is_too_long');
    return text;
  };

  const routes: [string, Run][] = [
    ['GET /me', () => bot],
    [
      'POST /chats/:chat/messages',
      (call, chat) => {
        const text = textIn(call);
        takeTurn(chat);
        return post(history, rules, chat, { ...call.json, text });
      },
    ],
    [
      'POST /chats/:chat/files',
      ({ query, body, type }, chat) => {
        const { name = 'file', text = '', ...fields } = Object.fromEntries(query);
        takeTurn(chat);
        return post(history, rules, chat, { ...fields, text, file: { name, mime: type, bytes: body } });
      },
    ],
    [
      'GET /chats/:chat/messages',
      ({ query }, chat) => {
        if (!rules.findsNonces) throw new PlatformRefusal(404, 'no_such_route');
        const found = findByNonce(history, history.chat(chat).id, query.get('nonce') ?? '');
        return { messages: found === undefined ? [] : [toPublic(found)] };
      },
    ],
    [
      'PATCH /chats/:chat/messages/:id',
      (call, chat, id) => {
        const text = textIn(call);
        const message = ownMessage(history, chat, id);
        takeTurn(chat);
        return rewrite(history, message, text, call.json['buttons'] as PlatformButton[] | undefined);
      },
    ],
    [
      'DELETE /chats/:chat/messages/:id',
      (_, chat, id) => {
        const message = ownMessage(history, chat, id);
        takeTurn(chat);
        message.isDeleted = true;
        return {};
      },
    ],
    [
      'PUT /chats/:chat/messages/:id/reaction',
      ({ json }, chat, id) => ({ count: history.message(id, chat).reactions.push(String(json['emoji'])) }),
    ],
    ['POST /chats/:chat/typing', (_, chat) => history.chat(chat)],
    ['POST /presses/:id', () => ({})],
    [
      'GET /files/:id',
      (_, id) => {
        const bytes = history.bytesOf(id);
        if (bytes === undefined) throw new PlatformRefusal(404, 'file_not_found');
        return bytes;
      },
    ],
  ];
  const table = routes.map(([route, run]) => ({ pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '([^/]+)')}$`), run }));

  return (call) => {
    for (const { pattern, run } of table) {
      const [isIt, first = '', second = ''] = pattern.exec(`${call.method} ${call.path}`) ?? [];
      if (isIt !== undefined) return run(call, decodeURIComponent(first), decodeURIComponent(second));
    }
    throw new PlatformRefusal(404, 'no_such_route');
  };
}

type Post = { text: string; nonce?: string; reply_to?: string; buttons?: PlatformButton[]; file?: FileToSay };

function post(history: ChatHistory, { dedupesNonces }: PlatformRules, chatId: string, fields: Post): Answer {
  const { text, nonce, reply_to, buttons, file } = fields;
  const before = dedupesNonces && nonce !== undefined ? findByNonce(history, chatId, nonce) : undefined;
  const more = { ...(nonce && { nonce }), ...(reply_to && { reply_to }), ...(buttons && { buttons }), ...(file && { file }) };
  return toPublic(before ?? history.add({ chat: history.chat(chatId), from: bot, text, ...more }));
}

/** An edit that names no buttons removes them. */
function rewrite(history: ChatHistory, message: StoredMessage, text: string, buttons?: PlatformButton[]): Answer {
  const isSame = message.text === text && JSON.stringify(buttons) === JSON.stringify(message.buttons);
  if (isSame) throw new PlatformRefusal(400, 'not_modified');
  if (message.text !== text) history.rewrite(message, text);
  if (buttons === undefined) delete message.buttons;
  else message.buttons = buttons;
  return toPublic(message);
}

function ownMessage(history: ChatHistory, chatId: string, id: string): StoredMessage {
  const message = history.message(id, history.chat(chatId).id);
  if (message.from.id !== bot.id) throw new PlatformRefusal(403, 'not_your_message');
  return message;
}

const findByNonce = (history: ChatHistory, chatId: string, nonce: string): StoredMessage | undefined =>
  history.messagesOf(bot, chatId).find((message) => message.nonce === nonce);
