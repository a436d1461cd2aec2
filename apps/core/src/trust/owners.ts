import type { Principal, Role } from '@svc/contract/trust.ts';

/** Principals who have every right, everywhere, now and for good: whoever is the last of them must stay one. */
export function ownersAmong(principals: readonly Principal[], roles: readonly Role[], now: number): Principal[] {
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
    return !isBlocked && everywhere.some(({ role_id, expires_at }) => tierOf(role_id) === 'SACRED' && expires_at === null);
  });
}
