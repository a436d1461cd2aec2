import type { SessionAsker, SessionRequest } from '@svc/contract/link.ts';
import { atLeast, type Identity } from '@svc/contract/trust.ts';
import { ownsKey, type Peer } from '@svc/service-kit/connector-pass.ts';
import { resolveSpeaker } from '@svc/service-kit/resolve-speaker.ts';
import { forbidden, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { SessionRow, SessionStore } from '../session/session-store.ts';
import type { TrustService } from '../trust/trust-service.ts';

type Deps = { trust: Pick<TrustService, 'resolve'>; sessions: Pick<SessionStore, 'read'> };

/**
 * Whether a link may ask about a conversation at all, for any person: it belongs to the link's instance, or the link's type shows all
 * sessions.
 */
export const isWithinReach = (peer: Peer, key: string): boolean => ownsKey(peer, key) || peer.sessions === 'every';

/**
 * Identifies the person who asks over a link.
 * @throws ServiceError `no_access` for a sender who is denied.
 */
export async function resolveAsker(
  { trust }: Pick<Deps, 'trust'>,
  { instanceId: instance_id }: Peer,
  as: SessionAsker,
  key = '',
): Promise<Identity> {
  const identity = await resolveSpeaker(trust, as, { conversation_key: key, public: false, instance_id });
  if (identity.denied) throw new ServiceError('no_access', 'no access');
  return identity;
}

/** An owner sees all conversations within reach of the link, others only their own. */
export const seesAll = ({ trust_tier }: Identity): boolean => trust_tier === 'SACRED';

/**
 * The only check of who may see and change a conversation over a link: its person, on the conversation's own instance, and an owner. Only
 * an owner may access other channels' conversations. Changes require KNOWN or above, like the chat commands.
 * @throws ServiceError `no_access`, `forbidden`, `not_found`.
 */
export async function checkAccess(
  deps: Deps,
  peer: Peer,
  { op, as, conversation_key: key }: Exclude<SessionRequest, { op: 'sessions' }>,
): Promise<SessionRow> {
  const identity = await resolveAsker(deps, peer, as, key);
  const session = isWithinReach(peer, key) ? await deps.sessions.read(key) : undefined;
  if (session === undefined) throw notFound('session', key);
  if (!seesAll(identity)) {
    if (!ownsKey(peer, key) || identity.principal_id === null || session.principal_id !== identity.principal_id)
      throw forbidden('This conversation belongs to another person.');
    if (op !== 'history' && op !== 'watch' && !atLeast(identity.trust_tier, 'KNOWN'))
      throw forbidden(`${op} is for people who are known, and above.`);
  }
  return session;
}
