import { expect, test } from 'vitest';
import { toIdentity, type TrustContext } from './effective-trust.ts';
import type { GrantedRole, KnownSender } from './trust-store.ts';

const now = 1_000_000;
const context: TrustContext = { surface: 'compat', conversationKey: 'compat:a:b', public: false, now };

const grant = (over: Partial<GrantedRole> = {}): GrantedRole => ({
  id: 'grant_1',
  role: 'known',
  tier: 'KNOWN',
  tool_policy: 'read',
  surfaces: '*',
  tool_servers: '*',
  asks: 'never',
  scope_surface: null,
  scope_conversation_key: null,
  expires_at: null,
  ...over,
});
const sender = (...grants: GrantedRole[]): KnownSender => ({
  principal_id: 'p1',
  key: 'anna',
  display_name: 'Anna',
  active: true,
  bypass_moderation: false,
  grants,
});

test('the highest tier among the grants applies', () => {
  expect(
    toIdentity(sender(grant({ tier: 'GUEST' }), grant({ tier: 'TRUSTED', tool_policy: 'full' }), grant()), context),
  ).toMatchObject({
    denied: false,
    trust_tier: 'TRUSTED',
    tool_policy: 'full',
  });
});

test('of the roles with the widest tool policy, the one that asks least applies', () => {
  const of = (...grants: [GrantedRole['tool_policy'], string][]) =>
    toIdentity(sender(...grants.map(([tool_policy, asks]) => grant({ tool_policy, asks: asks as GrantedRole['asks'] }))), context)
      .asks;
  expect(of(['full', 'always'], ['full', 'dangerous'])).toBe('dangerous');
  // A role with a narrower tool policy does not remove the questions of a wider one.
  expect(of(['full', 'always'], ['read', 'never'])).toBe('always');
  expect(of(['read', 'never'], ['none', 'always'])).toBe('never');
  expect(of(['full', 'sometimes'], ['read', 'never'])).toBe('always');
});

test('tool servers are those of all roles with the highest tier', () => {
  const of = (...grants: GrantedRole[]) => toIdentity(sender(...grants), context).tool_servers;
  const one = grant({ tool_servers: ['a', 'b'] });
  expect(of(one, grant({ tool_servers: ['b', 'c'] }), grant({ tier: 'GUEST' }))).toEqual(['a', 'b', 'c']);
  expect(of(one, grant())).toBe('*');
  expect(of(one, grant({ expires_at: now }))).toEqual(['a', 'b']);
  expect(of(grant({ tool_servers: [] }))).toEqual([]);
  expect(toIdentity(null, context).tool_servers).toEqual([]);
});

test.each([
  ['no principal', null, 'unknown_sender'],
  ['a principal without a grant', sender(), 'no_grant'],
  ['a disabled principal', { ...sender(grant()), active: false }, 'disabled'],
  ['an expired grant', sender(grant({ expires_at: now })), 'no_grant'],
  ['a grant for another surface', sender(grant({ scope_surface: 'messenger' })), 'no_grant'],
  ['a role of other surfaces', sender(grant({ surfaces: ['messenger'] })), 'no_grant'],
  ['a grant for another conversation', sender(grant({ scope_conversation_key: 'compat:a:c' })), 'no_grant'],
  ['a tier below GUEST', sender(grant({ tier: 'UNKNOWN' })), 'low_tier'],
  ['a block, whatever else is granted', sender(grant({ tier: 'SACRED' }), grant({ tier: 'BLOCKED' })), 'blocked'],
])('denies %s', (_name, who, denial) => {
  expect(toIdentity(who, context)).toMatchObject({ denied: true, denial, tool_policy: 'none' });
});

test.each([
  ['a scope that fits', grant({ scope_surface: 'compat', scope_conversation_key: 'compat:a:b' })],
  ['a grant that has not expired', grant({ expires_at: now + 1 })],
  ['a role of this surface', grant({ surfaces: ['compat'] })],
])('admits %s', (_name, given) => {
  expect(toIdentity(sender(given), context)).toMatchObject({ denied: false, trust_tier: 'KNOWN' });
});

test('a public channel caps trust at TRUSTED', () => {
  const owner = sender(grant({ tier: 'SACRED' }));
  expect(toIdentity(owner, { ...context, public: true }).trust_tier).toBe('TRUSTED');
  expect(toIdentity(owner, context).trust_tier).toBe('SACRED');
});

test('an allowlist admits only people it names by key, id or an applicable role', () => {
  const isIn = (allow: string[], ...grants: GrantedRole[]) => !toIdentity(sender(...grants), { ...context, allow }).denied;
  for (const entry of ['anna', 'p1', 'role:known']) expect([entry, isIn(['bob', entry], grant())]).toEqual([entry, true]);
  for (const entry of ['ann', 'Anna', 'P1', 'known', 'role:', 'role:anna', 'role:Known', 'anna:role:'])
    expect([entry, isIn([entry], grant())]).toEqual([entry, false]);
  expect([isIn([], grant()), isIn(['role:guest'], grant({ role: 'guest', tier: 'GUEST' }), grant())]).toEqual([false, true]);
  expect(isIn(['role:guest'], grant({ role: 'guest', tier: 'GUEST', expires_at: now }), grant())).toBe(false);
  expect(toIdentity(sender(grant()), { ...context, allow: ['bob'] })).toMatchObject({
    denial: 'not_allowed',
    tool_policy: 'none',
  });
});

test('a denied person is named if known, and has no rights', () => {
  const owner = grant({ tier: 'SACRED', tool_policy: 'full', asks: 'always' });
  const anna = { ...sender(owner, grant({ tier: 'BLOCKED' })), bypass_moderation: true };
  const nothing = { denied: true, tool_policy: 'none', tool_servers: [], bypass_moderation: false };
  expect(toIdentity(anna, context)).toMatchObject({
    ...nothing,
    principal_id: 'p1',
    principal_key: 'anna',
    display_name: 'Anna',
  });
  expect(toIdentity(null, context)).toMatchObject({
    ...nothing,
    principal_id: null,
    principal_key: null,
    display_name: 'unknown',
    trust_tier: 'UNKNOWN',
  });
});
