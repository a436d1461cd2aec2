import type { ListedSession } from '@svc/contract/session.ts';
import type { SessionAtWork } from '@svc/contract/insights.ts';
import type { SessionList } from '../session/session-list.ts';

type Who = Omit<SessionAtWork, 'last_at'>;

/** These sessions, in the same order; one that is known only from its tools has nothing but its key. */
export async function whoAre(sessionList: Pick<SessionList, 'readAll'>, keys: readonly string[]): Promise<Who[]> {
  const sessions = await sessionList.readAll(keys);
  const known = new Map(sessions.map((session) => [session.conversation_key, toWho(session)]));
  return keys.map(
    (key) => known.get(key) ?? { conversation_key: key, surface: null, identity: null, principal: null, active: false },
  );
}

export const toWho = ({ conversation_key, surface, identity, principal, active }: ListedSession): Who => ({
  conversation_key,
  surface,
  identity,
  principal,
  active,
});
