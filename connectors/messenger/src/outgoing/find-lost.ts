import { ServiceError, type LostMessage, type ReplyPlatform } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';
import type { SentMessages } from './sent-messages.ts';
import { isNotModified } from './to-fault.ts';
import { unpackMessage } from './to-messages.ts';

/** What Telegram says of a message of the bot. */
type Content = { text?: string; caption?: string; reply_to_message?: { message_id: number } };
type Looked = 'other' | 'none' | Content;

type FindDeps = {
  call: BotCall;
  sent: SentMessages;
  /** Whether there may be a message of this id, without a write to the chat. */
  exists(chat: string, id: number, signal: AbortSignal): Promise<boolean>;
};

/** Behind the highest id that is known so many are looked at that have no message. */
const longestGap = 4;
/** Ids that are looked at, at most: in a bot that talks with many, all their messages count together. */
const most = 120;
const maxRemembered = 500;

/**
 * Finds a message whose answer was lost, or that was sent by a process that was killed. Telegram has no nonces and shows a bot no message of its
 * own, but it gives back the one whose buttons are changed: so a message that nobody knows gets a button, and loses it at once. It is the
 * one that is looked for when it answers the same message, or begins with the same words; several may be lost in one chat.
 */
export function createFindLost({ call, sent, exists }: FindDeps): NonNullable<ReplyPlatform['find']> {
  const remembered = new Map<string, Content>();

  async function look(chat: string, id: number, message: LostMessage): Promise<Looked> {
    const known = remembered.get(`${chat}:${id}`);
    if (known !== undefined) return known;
    const isThere = await exists(chat, id, message.signal);
    const looked = isThere ? await readOwn(call, { chat_id: chat, message_id: id }, message) : 'none';
    if (looked === 'other') sent.saw(chat, id);
    else if (looked !== 'none') remember(`${chat}:${id}`, looked);
    return looked;
  }

  function remember(name: string, content: Content): void {
    remembered.set(name, content);
    forgetOldest(remembered, maxRemembered);
  }

  return async (message) => {
    const chat = chatOf(message.chat);
    const noted = sent.latest(chat).find(({ nonce }) => nonce === message.nonce);
    if (noted !== undefined) return String(noted.id);
    const from = message.after === undefined ? 0 : toMessageId(message.after);
    if (from === 0 || sent.highest(chat) > from + most) return null;
    let missing = 0;
    for (let id = from + 1; missing < longestGap; id++) {
      const looked = sent.knows(chat, id) ? 'other' : await look(chat, id, message);
      if (typeof looked === 'object' && isMeant(looked, message)) {
        await sent.note(chat, [id], message.nonce);
        remembered.delete(`${chat}:${id}`);
        return String(id);
      }
      if (id > sent.highest(chat)) missing = looked === 'none' ? missing + 1 : 0;
    }
    return null;
  };
}

/** A button that nobody can press in the moment for which it is there. */
const button = { inline_keyboard: [[{ text: '…', callback_data: 'lost' }]] };

/** A message of the bot's own, by two writes; one write says of any other that it is not. */
async function readOwn(call: BotCall, at: Record<string, unknown>, { paced, signal }: LostMessage): Promise<Looked> {
  const change = (markup: object) => paced(() => call<Content>('editMessageReplyMarkup', { ...at, ...markup }, signal));
  try {
    await change({ reply_markup: button });
  } catch (error) {
    // It has the button still: the process that looked before was ended.
    if (!isNotModified(error)) return kindOf(error);
  }
  return change({});
}

function kindOf(error: unknown): 'other' | 'none' {
  if (error instanceof ServiceError && error.code === 'not_found') return 'none';
  if (error instanceof ServiceError && error.code === 'unprocessable') return 'other';
  throw error;
}

/** Where no message is quoted, or only a later part is missing, the words decide: what grew began in the same way. */
function isMeant({ reply_to_message: replied, text, caption }: Content, { answers, text: wanted }: LostMessage): boolean {
  if (answers !== undefined && replied !== undefined) return replied.message_id === toMessageId(answers);
  return wanted !== undefined && beginsAlike(text ?? caption ?? '', unpackMessage(wanted).text);
}

/** The last characters of a text that grows may be shown in another way than later: a mark is not yet one. */
const unsettledChars = 8;

function beginsAlike(one: string, other: string): boolean {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  const length = Math.min(a.length, b.length);
  const settled = Math.max(length - unsettledChars, Math.min(length, unsettledChars));
  return length > 0 && a.slice(0, settled) === b.slice(0, settled);
}

const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
