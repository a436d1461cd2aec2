import type { CoreApi, Sender } from '@svc/connector-kit';
import type { Identity } from '@svc/contract/trust.ts';
import { tiers } from '@svc/contract/trust.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { meta } from '../meta.ts';

/** The author of a message, as the core should identify them. */
export type Speaker = { sender: Sender; identity: Identity; byRole: boolean };
type Place = { conversation_key: string; public?: boolean };

/** The roles of a member, or how to find them where Discord does not name them. `among`: all roles of the server. */
export type Roles = readonly string[] | { among: readonly string[]; find(): Promise<readonly string[]> };

/** Identifies a member by their own id and their roles on the server. Rejects when the core, or Discord, cannot be asked. */
export type FindSpeaker = (own: Sender, roles: Roles, place: Place) => Promise<Speaker>;

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

  /** Most servers have no role that is known to the core: then no roles have to be looked up. */
  async function rolesOf({ among, find }: Exclude<Roles, readonly string[]>, place: Place): Promise<readonly string[]> {
    for (const role of among) if ((await identityOfRole(role, place)) !== null) return find();
    return [];
  }

  return async (own, given, place) => {
    const speaker = { sender: own, identity: await resolve(own, place), byRole: false };
    if (speaker.identity.principal_id !== null || own.is_bot === true) return speaker;
    const roles = 'among' in given ? await rolesOf(given, place) : given;
    let best: Speaker = speaker;
    for (const role of roles.slice(0, mostRolesAsked)) {
      const identity = await identityOfRole(role, place);
      const isBetter = identity !== null && !identity.denied && (!best.byRole || rank(identity) > rank(best.identity));
      if (isBetter) best = { sender: { ...own, raw_id: roleName(role) }, identity, byRole: true };
    }
    return best;
  };
}

const roleMark = 'role:';
const roleName = (role: string): string => roleMark + role;
/** Whether a person is known only by a role. */
export const isRole = ({ raw_id }: Pick<Sender, 'raw_id'>): boolean => raw_id.startsWith(roleMark);
/** Whether someone with these roles may still act as this sender. */
export const mayActAs = (sender: Pick<Sender, 'raw_id'>, roles: readonly string[]): boolean =>
  !isRole(sender) || roles.some((role) => roleName(role) === sender.raw_id);
const rank = ({ trust_tier }: Identity): number => tiers.indexOf(trust_tier);
