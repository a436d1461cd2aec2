import { ServiceError, type LostMessage, type ReplyPlatform } from '@svc/connector-kit';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';
import type { SentMessages } from './sent-messages.ts';
import { isNotModified } from './to-fault.ts';
import { unpackMessage } from './to-messages.ts';

/** What Telegram returns about a message of the bot. */
type Content = { text?: string; caption?: string; reply_to_message?: { message_id: number } };
type Looked = 'other' | 'none' | Content;

type FindDeps = {
  call: BotCall;
  sent: SentMessages;
  /** Whether a message with this id may exist, checked without a write to the chat. */
  exists(chat: string, id: number, signal: AbortSignal): Promise<boolean>;
};

/** Number of missing ids after the highest known one after which the search ends. */
const longestGap = 4;
/** Maximum number of ids to check: in a bot with many chats, all their messages are numbered together. */
const most = 120;
const maxRemembered = 500;

/**
 * Finds a message whose answer was lost, or that was sent by a process that was killed. Telegram has no nonces and does not let a bot list
 * its own messages, but it returns a message whose buttons are changed. So each unknown message is given a button, which is removed at
 * once. It is the lost one if it answers the same message or begins with the same words; a chat may have several lost messages.
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

/** A button that exists too briefly to be pressed. */
const button = { inline_keyboard: [[{ text: '…', callback_data: 'lost' }]] };

/** Reads a message of the bot with two writes. For any other message, one write shows that it is not the bot's. */
async function readOwn(call: BotCall, at: Record<string, unknown>, { paced, signal }: LostMessage): Promise<Looked> {
  const change = (markup: object) => paced(() => call<Content>('editMessageReplyMarkup', { ...at, ...markup }, signal));
  try {
    await change({ reply_markup: button });
  } catch (error) {
    // It still has the button: an earlier process was killed before it removed it.
    if (!isNotModified(error)) return kindOf(error);
  }
  return change({});
}

function kindOf(error: unknown): 'other' | 'none' {
  if (error instanceof ServiceError && error.code === 'not_found') return 'none';
  if (error instanceof ServiceError && error.code === 'unprocessable') return 'other';
  throw error;
}

/** When no message is quoted, or only a later part is missing, the words decide: a growing text always began in the same way. */
function isMeant({ reply_to_message: replied, text, caption }: Content, { answers, text: wanted }: LostMessage): boolean {
  if (answers !== undefined && replied !== undefined) return replied.message_id === toMessageId(answers);
  return wanted !== undefined && beginsAlike(text ?? caption ?? '', unpackMessage(wanted).text);
}

/** The last characters of a growing text may be rendered differently later, because a mark may be incomplete. */
const unsettledChars = 8;

function beginsAlike(one: string, other: string): boolean {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  const length = Math.min(a.length, b.length);
  const settled = Math.max(length - unsettledChars, Math.min(length, unsettledChars));
  return length > 0 && a.slice(0, settled) === b.slice(0, settled);
}

const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
