import type { Action, HandleResult, Outcome } from '@svc/contract/turn.ts';
import type { Turn } from './turn.ts';

/** How a turn ended, with what the channel renders: nothing for an empty text. */
export const toResult = (turn: Turn, outcome: Outcome, text: string): HandleResult => ({
  actions: toActions(text),
  outcome,
  conversation_key: turn.envelope.conversation_key,
  turn_id: turn.id,
});

const toActions = (text: string): Action[] => (text.trim() === '' ? [] : [{ type: 'reply', text }]);
