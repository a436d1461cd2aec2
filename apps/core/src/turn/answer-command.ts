import { type MessageAnswer, takeAnswer } from '../ask/answer-message.ts';
import type { OpenAsks } from '../ask/open-asks.ts';
import type { ChatCommand } from './chat-commands.ts';

/** A message that answers the question that the running turn waits with: it does not wait behind that turn. */
export const answerCommand = (asks: OpenAsks, answer: MessageAnswer): ChatCommand => ({
  name: 'answer',
  description: 'answer a question',
  floor: 'GUEST',
  waits: false,
  args: [],
  run: () => Promise.resolve(takeAnswer(asks, answer)),
});
