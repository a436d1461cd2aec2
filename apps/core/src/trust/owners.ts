import type { Principal, Role } from '@svc/contract/trust.ts';

/** Principals who have the highest tier now, on every channel and without expiry. The last of them must stay one. */
export function ownersAmong(principals: readonly Principal[], roles: readonly Role[], now: number): Principal[] {
  return holdersFor(principals, roles, now, ({ tier }) => tier === 'SACRED');
}

/** Owners for whom the engine may do everything. */
export function actingOwnersAmong(principals: readonly Principal[], roles: readonly Role[], now: number): Principal[] {
  return holdersFor(principals, roles, now, ({ tier, tool_policy }) => tier === 'SACRED' && tool_policy === 'full');
}

/** Principals with a role that `isMeant` accepts, on every channel and without expiry, who are not blocked. */
function holdersFor(
  principals: readonly Principal[],
  roles: readonly Role[],
  now: number,
  isMeant: (role: Role) => boolean,
): Principal[] {
  const roleOf = new Map(roles.map((role) => [role.id, role]));
  return principals.filter(({ status, grants }) => {
    if (status !== 'active') return false;
    const everywhere = grants.filter(
      ({ scope, role_id }) =>
        scope.surface === undefined && scope.conversation_key === undefined && roleOf.get(role_id)?.surfaces === '*',
    );
    const tierOf = (role_id: string) => roleOf.get(role_id)?.tier;
    const isBlocked = everywhere.some(
      ({ role_id, expires_at }) => tierOf(role_id) === 'BLOCKED' && (expires_at === null || expires_at > now),
    );
    const counts = (role: Role | undefined) => role !== undefined && isMeant(role);
    return !isBlocked && everywhere.some(({ role_id, expires_at }) => expires_at === null && counts(roleOf.get(role_id)));
  });
}

/** How many people besides the owners get answers. */
export function countOthers(principals: readonly Principal[], roles: readonly Role[], now: number): number {
  const owners = new Set(ownersAmong(principals, roles, now).map(({ id }) => id));
  const answered = new Set(roles.filter(({ tier }) => tier !== 'BLOCKED' && tier !== 'UNKNOWN').map(({ id }) => id));
  const isServed = ({ id, status, identifiers, grants }: Principal) =>
    !owners.has(id) &&
    status === 'active' &&
    identifiers.length > 0 &&
    grants.some(({ role_id, expires_at }) => answered.has(role_id) && (expires_at === null || expires_at > now));
  return principals.filter(isServed).length;
}
