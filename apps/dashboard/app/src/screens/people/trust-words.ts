import type { Grant, Principal, Role, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import { fullTime } from '../../parts/format.ts';

/** What a tier is called to people. */
export const tierWords: Record<Tier, string> = {
  SACRED: 'owner',
  TRUSTED: 'trusted',
  KNOWN: 'known',
  GUEST: 'guest',
  UNKNOWN: 'unknown',
  BLOCKED: 'blocked',
};
export const toolWords: Record<ToolPolicy, string> = { full: 'may act', read: 'may look things up', none: 'may only talk' };

/** "guest on messenger until 24 Nov". */
export function grantWords({ role, scope, expires_at: end }: Pick<Grant, 'role' | 'scope' | 'expires_at'>): string {
  const place = scope.conversation_key ?? scope.surface;
  return `${role}${place === undefined ? '' : ` on ${place}`}${end === null ? '' : ` until ${fullTime(end)}`}`;
}

/** Whether a grant is what keeps the last owner one: then it cannot be taken away. */
export function isLastOwner(people: readonly Principal[], roles: readonly Role[], person: Principal): boolean {
  const owner = new Set(roles.filter(({ tier, surfaces }) => tier === 'SACRED' && surfaces === '*').map(({ id }) => id));
  const isOwner = ({ status, grants }: Principal) =>
    status === 'active' &&
    grants.some(({ role_id: id, scope, expires_at: end }) => owner.has(id) && end === null && Object.keys(scope).length === 0);
  const owners = people.filter(isOwner);
  return owners.length === 1 && owners[0]?.id === person.id;
}

export const isOwnerGrant = (roles: readonly Role[], { role_id: id }: Grant): boolean =>
  roles.some((role) => role.id === id && role.tier === 'SACRED');

/** Ends that are chosen most, and how long they are. */
export const spans = { '': 'for good', '1': 'for a day', '7': 'for a week', '31': 'for a month' } as const;
export const endOf = (days: string): number | null => (days === '' ? null : Date.now() + Number(days) * 86_400_000);
/** Everything that says something else when trust changes. */
export const trustPaths = ['/core/trust/'];
