import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { turnThatShows } from './check-channel.ts';
import type { Tool } from './tool.ts';

/** Compiled on first use: building the set of all emojis takes 20 ms. */
const isOneEmoji = (text: string): boolean => /^\p{RGI_Emoji}$/v.test(text);

/** Puts an emoji on the message that is being answered. */
export const react: Tool<'svc_react'> = async ({ turnActions }, caller, { emoji }) => {
  const turn = turnThatShows(caller, 'react');
  if (turn.envelope.message_id === undefined) throw new ServiceError('unprocessable', 'There is no message to react to here.');
  if (!isOneEmoji(emoji)) throw badRequest('"emoji" must be one emoji, such as 👍.');
  await turnActions.add(turn, { type: 'react', emoji });
  return { reacted: emoji, note: 'It is shown with your reply. To say nothing else, reply with [[NO_REPLY]] alone.' };
};
