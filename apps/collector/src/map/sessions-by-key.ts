import type { SessionAtWork } from '@svc/contract/work-map.ts';
import type { Database } from '@svc/store/database.ts';
import type { CollectedSession } from '../session/session-store.ts';
import { readSession } from '../session/session-store.ts';

type Who = Omit<SessionAtWork, 'last_at'>;

/** Who a session is; one that is only known by its tools has nothing but its key. */
export async function whoIs(db: Pick<Database, 'get'>, key: string, now: number): Promise<Who> {
  const session = await readSession(db, key, now);
  return session === undefined
    ? { conversation_key: key, surface: null, identity: null, principal: null, active: false }
    : toWho(session);
}

export const toWho = ({ conversation_key, surface, identity, principal, active }: CollectedSession): Who => ({
  conversation_key,
  surface,
  identity,
  principal,
  active,
});
