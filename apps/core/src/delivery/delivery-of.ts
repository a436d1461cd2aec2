import type { HandleResult } from '@svc/contract/turn.ts';
import type { Turn } from '../turn/turn.ts';

/** What a delivery says of the turn that it comes from. */
export const deliveryOf = (turn: Turn, text: string) => ({
  turn_id: turn.id,
  turn_seq: turn.seq,
  conversation_key: turn.envelope.conversation_key,
  message_id: turn.envelope.message_id ?? null,
  text,
  injected: turn.steering !== undefined,
});

/** A reply as one text, for a channel that is pushed to. */
export const replyText = (result: HandleResult): string => result.actions.map((action) => action.text).join('\n\n');
