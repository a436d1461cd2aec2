import type { Amendment } from '@svc/contract/amend.ts';
import type { Ingress } from '@svc/connector-kit/ingress/ingress.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { wellFormed } from '@svc/service-kit/well-formed.ts';
import type { CallbackQuery, ChatMemberUpdated, Message } from 'grammy/types';
import { meta } from '../meta.ts';
import { targetOf } from './chat-keys.ts';
import type { FileWords } from './file-words.ts';
import type { MessageEdits } from './message-edits.ts';
import { readUpdate, type Incoming } from './read-update.ts';
import { basicEnvelope, joined, toEnvelope, type EnvelopeDeps } from './to-envelope.ts';

export type TakeDeps = EnvelopeDeps & { fileWords: Pick<FileWords, 'ofEdited'> } & Pick<StartContext, 'log'> & {
    ingress: Ingress;
    edits: MessageEdits;
    /** A group has a new id. */
    moved(from: number, to: number): Promise<void>;
    /** A button was pressed. Rejects when the update must be delivered again. */
    pressed(press: CallbackQuery): Promise<void>;
    /** A message was received, from the bot itself or from others. */
    seen(message: Message): void;
  };

/** Passes one update on. Resolves when it may be confirmed; rejects only when it must be delivered again. */
export async function takeUpdate(deps: TakeDeps, update: unknown): Promise<void> {
  try {
    const incoming = readUpdate(wellFormed(update));
    if (incoming !== null && !isClosed(deps, incoming)) await hand(deps, incoming);
  } catch (error) {
    if (isPassing(error)) throw error;
    deps.log('error', 'an update could not be read and was skipped', { error: errorText(error) });
  }
}

/** In a chat that is not answered, edits and presses are ignored too. A message itself may be told that access is denied. */
function isClosed({ access }: TakeDeps, incoming: Incoming): boolean {
  if (incoming.kind === 'edited') return !access.isOpen(incoming.message.chat.id);
  if (incoming.kind !== 'press' || incoming.press.message === undefined) return false;
  return !access.isOpen(incoming.press.message.chat.id);
}

async function hand(deps: TakeDeps, incoming: Incoming): Promise<void> {
  const id = deps.keys.ofUpdate(incoming.id);
  switch (incoming.kind) {
    case 'message': {
      const { message } = incoming;
      deps.seen(message);
      deps.edits.saw(message);
      if (message.migrate_to_chat_id !== undefined) return deps.moved(message.chat.id, message.migrate_to_chat_id);
      if (message.migrate_from_chat_id !== undefined) return deps.moved(message.migrate_from_chat_id, message.chat.id);
      const prepare = (signal: AbortSignal) => toEnvelope(deps, message, signal);
      return deps.ingress.take(targetOf(message), id, prepare, message.media_group_id);
    }
    case 'edited':
      return edited(deps, incoming.id, incoming.message);
    case 'press':
      return deps.pressed(incoming.press);
    case 'member':
      return noteMember(deps, incoming.change);
    case 'other':
  }
}

/** Live locations, which are edited every few seconds, and the bot's own messages are ignored. */
async function edited(deps: TakeDeps, id: number, message: Message): Promise<void> {
  if (message.location !== undefined || message.from?.id === deps.bot.id) return;
  try {
    await deps.ingress.amend(targetOf(message), String(id), (signal) => toAmendment(deps, message, signal));
  } catch (error) {
    deps.edits.forget(message);
    throw error;
  }
}

/** Null when the author changed nothing. */
async function toAmendment(deps: TakeDeps, message: Message, signal: AbortSignal): Promise<Amendment | null> {
  const version = deps.edits.versionOf(message);
  if (version === null) return null;
  const envelope = basicEnvelope(deps, message);
  const { conversation_key, content, sender } = envelope;
  const text = joined(content.text, await deps.fileWords.ofEdited(message, envelope, signal));
  if (!signal.aborted) deps.edits.note(message, version); // an aborted attempt is repeated
  return { conversation_key, message_id: deps.keys.ofMessage(message), version, text, as: { channel: meta.type, sender } };
}

function noteMember({ log }: TakeDeps, { chat, new_chat_member }: ChatMemberUpdated): void {
  log('info', "the bot's status in a chat has changed", { chat: chat.id, kind: chat.type, status: new_chat_member?.status });
}
