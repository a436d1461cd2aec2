import { describe, expect, test } from 'vitest';
import type { Grant, Principal, Role } from '@svc/contract/trust.ts';
import { actingOwnersAmong, countOthers, ownersAmong } from './owners.ts';

const now = 1_000;
const role = (name: string, tier: Role['tier'], over: Partial<Role> = {}): Role => ({
  id: `role_${name}`,
  name,
  tier,
  tool_policy: 'full',
  surfaces: '*',
  tool_servers: '*',
  asks: 'never',
  description: '',
  ...over,
});
const roles = [
  role('owner', 'SACRED'),
  role('reader', 'SACRED', { tool_policy: 'read' }),
  role('mail-owner', 'SACRED', { surfaces: ['email'] }),
  role('trusted', 'TRUSTED'),
  role('out', 'BLOCKED'),
  role('mail-out', 'BLOCKED', { surfaces: ['email'] }),
  role('stranger', 'UNKNOWN'),
];

type Given = string | [name: string, over: Partial<Grant>];
const person = (key: string, given: Given[], over: Partial<Principal> = {}) =>
  ({
    id: key,
    key,
    status: 'active',
    identifiers: [{ id: `i_${key}`, principal_id: key, surface: 'email', value: key }],
    grants: given.map((one) => {
      const [name, more] = typeof one === 'string' ? [one, {}] : one;
      return { role_id: `role_${name}`, scope: {}, expires_at: null, ...more };
    }),
    ...over,
  }) as Principal;
const keys = (found: Principal[]) => found.map(({ key }) => key);

describe('owner', () => {
  test.each<[string, Given[], boolean]>([
    ['has the highest tier', ['owner'], true],
    ['has it among other roles', ['trusted', 'owner'], true],
    ['has it once everywhere and once on a channel', [['owner', { scope: { surface: 'email' } }], 'owner'], true],
    ['is nobody of a lower tier', ['trusted'], false],
    ['is nobody without a role', [], false],
    ['is nobody with a role that is gone', ['nothing'], false],
    ['is nobody who has it on a channel alone', [['owner', { scope: { surface: 'email' } }]], false],
    ['is nobody who has it in a conversation alone', [['owner', { scope: { conversation_key: 'k' } }]], false],
    ['is nobody whose role counts on a channel alone', ['mail-owner'], false],
    ['is nobody who has it until a time', [['owner', { expires_at: now + 1 }]], false],
    ['is nobody who is blocked', ['owner', 'out'], false],
    ['is nobody who is blocked for now', ['owner', ['out', { expires_at: now + 1 }]], false],
    ['is one again when a block is over', ['owner', ['out', { expires_at: now }]], true],
    ['is one who is blocked on a channel alone', ['owner', 'mail-out', ['out', { scope: { surface: 'email' } }]], true],
  ])('%s', (_what, given, isOne) => {
    expect(keys(ownersAmong([person('anna', given)], roles, now))).toEqual(isOne ? ['anna'] : []);
  });

  test('is not a disabled person', () => {
    expect(ownersAmong([person('anna', ['owner'], { status: 'disabled' })], roles, now)).toEqual([]);
  });

  test('acts only with full tools', () => {
    const all = [
      person('anna', ['owner']),
      person('ben', ['reader']),
      person('cleo', ['trusted']),
      person('dora', ['reader', 'trusted']),
    ];
    expect(keys(ownersAmong(all, roles, now))).toEqual(['anna', 'ben', 'dora']);
    expect(keys(actingOwnersAmong(all, roles, now))).toEqual(['anna']);
  });
});

test('countOthers() counts active people with identifiers and a live grant', () => {
  const count = (...all: Principal[]) => countOthers(all, roles, now);
  expect(count(person('anna', ['owner']), person('ben', ['trusted']), person('cleo', ['mail-owner']))).toBe(2);
  expect(count(person('ben', ['trusted'], { status: 'disabled' }), person('cleo', ['trusted'], { identifiers: [] }))).toBe(0);
  expect(count(person('ben', ['out']), person('cleo', ['stranger']), person('dora', []))).toBe(0);
  expect(count(person('ben', [['trusted', { expires_at: now }]]))).toBe(0);
  expect(count(person('ben', [['trusted', { expires_at: now + 1 }]]))).toBe(1);
  expect(count(person('ben', ['out', 'trusted']))).toBe(1);
});
