import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';
import { checkTarget } from '../../announcement/announcement-target.ts';
import { conversationOf, countWrite, rightsOf, type ToolCaller } from '../tool-caller.ts';
import { isoTime, type Tool } from './tool.ts';

/** Posts a note to sessions. Callers without full reach can leave one only in this conversation, for its next turn. */
export const announce: Tool<'svc_announce'> = async ({ announcements, events }, caller, input) => {
  const { text, priority = 'normal', ttl } = input;
  if (text.trim() === '') throw badRequest('"text" is blank. Say what the sessions should know.');
  const target = targetOf(caller, input.target);
  checkTarget(target);
  countWrite(caller);
  const here = conversationOf(caller) ?? 'operator';
  // A session does not get its own notes, unless they are for itself.
  const from_session = target === here ? '' : here;
  const posted = await announcements.post({ text, target, priority, from_session, ttl });
  events.announcement(posted);
  const expires = posted.expires_at === null ? {} : { expires_at: isoTime(posted.expires_at) };
  return { id: posted.id, target: posted.target, ...expires };
};

function targetOf(caller: ToolCaller, asked: string | undefined): string {
  const here = conversationOf(caller);
  if (rightsOf(caller).reach === 'all') return asked ?? '*';
  if (here !== null && (asked === undefined || asked === here)) return here;
  throw forbidden('Announcing to other sessions is not allowed for the person who wrote the message, or not from here.');
}
