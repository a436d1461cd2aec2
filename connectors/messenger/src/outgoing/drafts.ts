import { ServiceError, type ReplyPlatform } from '@svc/connector-kit';
import type { BotCall } from './bot-call.ts';
import { chatOf, isPrivate } from './chat-place.ts';
import { isUnknownMethod } from './to-fault.ts';
import { unpackMessage } from './to-messages.ts';
import { placeOf } from './write-params.ts';

/** Derived from the message's nonce; never 0. */
const draftIdOf = (nonce: string): number => Buffer.from(nonce, 'base64url').readUInt32BE() >>> 1 || 1;
const mostWithout = 1000;

/** Drafts of messages that are still being written, in private chats. A server or chat without drafts is tried only once. */
export function createDrafts(call: BotCall): NonNullable<ReplyPlatform['draft']> {
  const without = new Set<string>();
  let isUnknown = false;
  return async ({ chat, text, nonce, signal }) => {
    if (isUnknown || !isPrivate(chat) || without.has(chatOf(chat))) return false;
    try {
      await call('sendMessageDraft', { ...placeOf(chat), draft_id: draftIdOf(nonce), ...unpackMessage(text) }, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unprocessable') throw error;
      isUnknown ||= isUnknownMethod(error);
      if (without.size >= mostWithout) without.clear();
      without.add(chatOf(chat));
      return false;
    }
  };
}
