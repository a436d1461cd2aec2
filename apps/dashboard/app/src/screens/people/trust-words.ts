import { t } from '@svc/chat-ui/language/t.ts';
import type { AskPolicy, Grant, Principal, Role, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import { fullTime } from '../../parts/format.ts';

/** The names of tiers for people. */
export const tierWords: Record<Tier, string> = {
  SACRED: t('owner'),
  TRUSTED: t('trusted'),
  KNOWN: t('known'),
  GUEST: t('guest'),
  UNKNOWN: t('unknown'),
  BLOCKED: t('blocked'),
};
export const toolWords: Record<ToolPolicy, string> = {
  full: t('may act'),
  read: t('may look things up'),
  none: t('may only talk'),
};
export const askWords: Record<AskPolicy, string> = {
  never: t('never'),
  dangerous: t('before it does more than read'),
  always: t('before every tool'),
};

/** The display text of the channels or tool servers of a role. */
export const listWords = (names: readonly string[] | '*'): string => (names === '*' ? t('all') : names.join(', ') || t('none'));

/** As it is typed, the same in every language. */
export const channelExample = 'messenger';

/** "guest on messenger until 24 Nov". */
export function grantWords({ role, scope, expires_at: end }: Pick<Grant, 'role' | 'scope' | 'expires_at'>): string {
  const place = [scope.surface, scope.conversation_key].filter((part) => part !== undefined).join(', ');
  if (end === null) return place === '' ? role : t('{role} on {place}', { role, place });
  const when = fullTime(end);
  return place === '' ? t('{role} until {when}', { role, when }) : t('{role} on {place} until {when}', { role, place, when });
}

export const hasEnded = ({ expires_at: end }: Pick<Grant, 'expires_at'>): boolean => end !== null && end <= Date.now();

/** Whether a person is the last permanent owner everywhere, who must stay the owner. */
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

export const lastOwner = t('The last owner stays the owner: make another person the owner first.');
export const pathOf = ({ id }: Pick<Principal, 'id'>): string => `/core/trust/principals/${encodeURIComponent(id)}`;
/** The paths whose data changes with people and rights. */
export const trustPaths = ['/core/trust/'];
