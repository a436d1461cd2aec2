import { ServiceError, type ReplyPlatform } from '@svc/connector-kit';
import type { BotCall } from './bot-call.ts';
import { chatOf, toMessageId } from './chat-place.ts';
import type { SentMessages } from './sent-messages.ts';
import { isNotModified } from './to-fault.ts';

type Found = 'own' | 'other' | 'none';

/** Behind the highest id that is known so many are looked at that have no message. */
const longestGap = 4;
/** Ids that are looked at, at most: in a bot that talks with many, all their messages count together. */
const most = 120;

/**
 * Finds a message whose answer was lost, or that was sent by a process that was killed: Telegram has no nonces and no search, but it says of an id whether it
 * is a message of the bot's own, by refusing to change its buttons in different words. One that is the bot's own and not known to
 * have been sent is the one that was lost: in one chat nothing else is written meanwhile.
 */
export function createFindLost(call: BotCall, sent: SentMessages): NonNullable<ReplyPlatform['find']> {
  return async ({ chat: target, nonce, after, signal }) => {
    const chat = chatOf(target);
    const known = sent.latest(chat);
    const noted = known.find((each) => each.nonce === nonce);
    if (noted !== undefined) return String(noted.id);
    const from = after === undefined ? 0 : toMessageId(after);
    if (from === 0 || sent.highest(chat) > from + most) return null;
    const own = new Set(known.map((each) => each.id));
    let missing = 0;
    for (let id = from + 1; missing < longestGap; id++) {
      const found = own.has(id) ? 'other' : await probe(call, { chat_id: chat, message_id: id }, signal);
      if (found === 'own') {
        await sent.note(chat, [id], nonce);
        return String(id);
      }
      if (id > sent.highest(chat)) missing = found === 'none' ? missing + 1 : 0;
    }
    return null;
  };
}

async function probe(call: BotCall, params: Record<string, unknown>, signal: AbortSignal): Promise<Found> {
  try {
    await call('editMessageReplyMarkup', params, signal);
    return 'own';
  } catch (error) {
    if (isNotModified(error)) return 'own';
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'not_found') return 'none';
    if (error.code === 'unprocessable') return 'other';
    throw error;
  }
}
