import type { ChannelAction } from '@svc/contract/envelope.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Turn } from '../../turn/turn.ts';
import type { ToolCaller } from '../tool-caller.ts';

const words: Record<ChannelAction, string> = { file: 'no files with a reply', react: 'no reactions' };

/** The turn of a caller whose channel supports this kind of action. @throws ServiceError `unprocessable` with a text for the model. */
export function turnThatShows({ turn }: ToolCaller, action: ChannelAction): Turn {
  if (turn === null)
    throw new ServiceError('unprocessable', 'This tool goes with a reply, and there is no conversation to reply to here.');
  const shows = turn.envelope.capabilities?.actions ?? [];
  if (shows.includes(action)) return turn;
  throw new ServiceError('unprocessable', `The channel "${turn.envelope.channel}" shows ${words[action]}. Say it in your reply.`);
}
