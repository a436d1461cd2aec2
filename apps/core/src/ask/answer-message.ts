import type { AskOption } from '@svc/contract/ask.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { matchAnswer } from './match-answer.ts';
import type { KeptAsk, OpenAsks } from './open-asks.ts';

/** A message that may be an answer: the question, and the option that it chooses. */
export type MessageAnswer = { ask: KeptAsk; option: AskOption };

/**
 * The question that a message answers if its sender is the person asked: the only open one in its conversation. Null for any other message.
 */
export function answerIn(
  asks: OpenAsks,
  { conversation_key, content }: Pick<Envelope, 'conversation_key' | 'content'>,
): MessageAnswer | null {
  const [ask, ...more] = asks.inConversation(conversation_key);
  if (ask === undefined || more.length > 0 || (content.attachments?.length ?? 0) > 0) return null;
  const option = matchAnswer(ask.options, content.said ?? content.text);
  return option === null ? null : { ask, option };
}

/** Only the person who is asked can answer with a plain message; another person's message is handled normally. */
export const isFrom = ({ ask }: MessageAnswer, { principal_id }: Identity): boolean => principal_id === ask.for;

/** Closes the question, and returns the reply to the sender. */
export const takeAnswer = (asks: OpenAsks, { ask, option }: MessageAnswer): string =>
  asks.answer(ask.id, ask.conversation_key, option.id) === 'taken' ? `Answered: ${option.label}` : 'This question is over.';
