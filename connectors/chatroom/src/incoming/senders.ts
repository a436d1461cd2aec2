import type { CoreApi, Sender } from '@svc/connector-kit';
import type { Identity } from '@svc/contract/trust.ts';
import { tiers } from '@svc/contract/trust.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { meta } from '../meta.ts';

/** The author of a message, as the core should identify them. */
export type Speaker = { sender: Sender; identity: Identity; byRole: boolean };
type Place = { conversation_key: string; public?: boolean };

/** Identifies a member by their own id and their roles on the server. Rejects when the core cannot be asked. */
export type FindSpeaker = (own: Sender, roles: readonly string[], place: Place) => Promise<Speaker>;

/** How long it is remembered that a role is unknown to the core, ms, and for how many roles. */
const forgetMs = 60_000;
const maxRoles = 1000;
const mostRolesAsked = 50;

/**
 * Someone who is known by their own id is that person, whatever roles they have. Anyone else may be admitted by a role of their server,
 * which is an identifier like any other (`role:ID`): the role with the most trust counts.
 */
export function createSpeakers(core: Pick<CoreApi, 'resolve'>, clock: Pick<Clock, 'elapsed'> = systemClock): FindSpeaker {
  const unknownRoles = new Map<string, number>();

  const resolve = (sender: Sender, place: Place): Promise<Identity> => core.resolve({ channel: meta.type, sender, ...place });

  async function identityOfRole(role: string, place: Place): Promise<Identity | null> {
    if ((unknownRoles.get(role) ?? -Infinity) > clock.elapsed() - forgetMs) return null;
    const identity = await resolve({ raw_id: roleName(role) }, place);
    if (identity.principal_id !== null) return identity;
    unknownRoles.delete(role);
    unknownRoles.set(role, clock.elapsed());
    forgetOldest(unknownRoles, maxRoles);
    return null;
  }

  return async (own, roles, place) => {
    const speaker = { sender: own, identity: await resolve(own, place), byRole: false };
    if (speaker.identity.principal_id !== null || own.is_bot === true) return speaker;
    let best: Speaker = speaker;
    for (const role of roles.slice(0, mostRolesAsked)) {
      const identity = await identityOfRole(role, place);
      const isBetter = identity !== null && !identity.denied && (!best.byRole || rank(identity) > rank(best.identity));
      if (isBetter) best = { sender: { ...own, raw_id: roleName(role) }, identity, byRole: true };
    }
    return best;
  };
}

const roleName = (role: string): string => `role:${role}`;
const rank = ({ trust_tier }: Identity): number => tiers.indexOf(trust_tier);
