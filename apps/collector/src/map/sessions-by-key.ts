import type { ListedSession } from '@svc/contract/listed-session.ts';
import type { SessionAtWork } from '@svc/contract/work-map.ts';
import type { SessionList } from '../session/session-list.ts';

type Who = Omit<SessionAtWork, 'last_at'>;

/** Who a session is; one that is only known by its tools has nothing but its key. */
export async function whoIs(sessionList: Pick<SessionList, 'read'>, key: string): Promise<Who> {
  const session = await sessionList.read(key);
  return session === undefined
    ? { conversation_key: key, surface: null, identity: null, principal: null, active: false }
    : toWho(session);
}

export const toWho = ({ conversation_key, surface, identity, principal, active }: ListedSession): Who => ({
  conversation_key,
  surface,
  identity,
  principal,
  active,
});
