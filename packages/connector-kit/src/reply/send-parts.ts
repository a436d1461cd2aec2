import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import type { StartContext } from '../connector.ts';
import type { ConnectorState } from '../state/state.ts';
import { createChatGate, type ChatGate } from './chat-gate.ts';
import { createReplyMessages, type Unsure } from './reply-messages.ts';
import type { ReplyPlatform } from './reply-platform.ts';
import { createReplyRecords } from './reply-record.ts';
import { settleReply } from './settle-reply.ts';

export type PartsToSend = Pick<ReplyPlatform, 'post' | 'find'> & {
  /** The same for each attempt at these parts, such as the id of an `OutboundMessage`. */
  id: string;
  chat: string;
  /** The texts of the messages, none empty. */
  parts: readonly string[];
  state: ConnectorState;
  log: StartContext['log'];
  /** Stops the call between two parts. */
  signal?: AbortSignal;
  gate?: ChatGate;
  /** Default: `repeat`. */
  unsure?: Unsure;
  clock?: Clock;
};

/**
 * Posts parts one after the other. After an error, an abort or a kill, the next call with the same id continues with the first part that
 * was not accepted. For channels without a reply writer, whose `send` does the same.
 */
export async function sendParts(sending: PartsToSend): Promise<void> {
  const { id, chat, parts, state, log, signal, unsure = 'repeat', clock = systemClock } = sending;
  const { gate = createChatGate({ clock, perMs: 0 }), post, find } = sending;
  const records = createReplyRecords(state, clock, log);
  const messages = createReplyMessages({ platform: { post, find }, records, clock, chat, unsure, callMs: 20_000 });
  await messages.open(`parts ${id}`, undefined, 'same');
  const settling = { clock, gate, chat, messages, whenGone: 'post', withinMs: 60_000, log } as const;
  await settleReply(settling, { pieces: parts, cuts: [], extras: [] }, signal);
}
