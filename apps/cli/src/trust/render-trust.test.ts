import { expect, test } from 'vitest';
import type { ExplainedIdentity, Grant, JudgedGrant, Principal, Role } from '@svc/contract/trust.ts';
import { plain } from '../terminal.ts';
import { findGrant, findIdentifier } from './find-in-principal.ts';
import { renderAudit, renderExplanation, renderPrincipals, renderRoles } from './render-trust.ts';

const now = new Date(2026, 10, 21, 8, 0).getTime();
const ids = { principal_id: 'principal_1', role_id: 'role_1' };
const known: Grant = { id: 'grant_1', ...ids, role: 'known', scope: {}, expires_at: null };
const brief: Grant = {
  ...known,
  id: 'grant_2',
  role: 'trusted',
  scope: { surface: 'messenger', conversation_key: 'k1' },
  expires_at: now + 3_600_000,
};
const anna: Principal = {
  id: 'principal_1',
  key: 'anna',
  display_name: 'Anna\u001b[2J',
  status: 'disabled',
  bypass_moderation: true,
  notes: '',
  identifiers: [
    { id: 'identifier_1', principal_id: 'principal_1', surface: 'messenger', value: '42' },
    { id: 'identifier_2', principal_id: 'principal_1', surface: 'email', value: 'anna@x.y' },
  ],
  grants: [known, brief, { ...known, id: 'grant_3', role: 'guest', expires_at: now - 60_000 }],
  created_at: 0,
  updated_at: 0,
};

test('people are listed with roles and identifiers', () => {
  const bob = {
    ...anna,
    key: 'bob',
    display_name: 'Bob',
    status: 'active' as const,
    bypass_moderation: false,
    identifiers: [],
    grants: [],
  };
  expect(renderPrincipals([anna, bob], now, plain)).toMatchInlineSnapshot(`
    "  anna  Anna\\x1b[2J, disabled, not moderated
            known, trusted on messenger in k1 until 2026-11-21 09:00, guest ended 2026-11-21 07:59
            messenger 42, email anna@x.y
      bob   Bob
            no role
            no name on any channel

      ./svc pair                           lists who waits to be let in
      ./svc person explain CHANNEL VALUE   says what a sender may do, and why"
  `);
  expect(renderPrincipals([], now, plain)).toContain('No person is known yet.');
});

test('roles are listed with what they allow', () => {
  const role = {
    id: 'r',
    name: 'known',
    tier: 'KNOWN',
    tool_policy: 'read',
    surfaces: '*',
    tool_servers: '*',
    asks: 'never',
    description: 'May look.',
  } as const;
  const roles: Role[] = [
    role,
    { ...role, name: 'mail', surfaces: ['email', 'issues'] },
    { ...role, name: 'few', tool_servers: ['svc-toolbelt', 'notes'], surfaces: ['email'] },
    { ...role, name: 'bare', tool_servers: [] },
    { ...role, name: 'guest', tool_policy: 'none', tool_servers: [] },
    { ...role, name: 'owner', tool_policy: 'full', asks: 'dangerous' },
  ];
  expect(renderRoles(roles, plain)).toMatchInlineSnapshot(`
    "  known  known    tools: read  May look.
      mail   known    tools: read, on email, issues only  May look.
      few    known    tools: read (tool servers: svc-toolbelt, notes), on email only  May look.
      bare   known    tools: read (no tool servers)  May look.
      guest  known    tools: none  May look.
      owner  known    tools: full, asks: dangerous  May look."
  `);
});

test('changes are listed one per line, truncated and escaped', () => {
  const change = { id: 1, at: now, actor: 'local', principal: 'anna' };
  expect(
    renderAudit(
      [
        { ...change, what: 'principal_changed', before: { display_name: 'A' }, after: { display_name: 'A\nB' } },
        { ...change, what: 'granted', before: null, after: { grant_id: 'g', role: 'known', scope: {}, expires_at: now } },
        { ...change, what: 'role_deleted', principal: null, before: { name: 'x', description: 'y'.repeat(200) }, after: null },
      ],
      plain,
    ),
  ).toMatchInlineSnapshot(`
    "  2026-11-21 08:00  local  principal changed  anna  was display_name=A is display_name=A?B
      2026-11-21 08:00  local  granted  anna  role=known expires_at=2026-11-21 08:00
      2026-11-21 08:00  local  role deleted  was name=x description=${'y'.repeat(141)}…"
  `);
  expect(renderAudit([], plain)).toBe('Nothing was changed.');
});

const judged = (grant: Grant, misfit: string | null): JudgedGrant => ({ ...grant, tier: 'SACRED', tool_policy: 'full', misfit });
const explained: ExplainedIdentity = {
  principal_id: 'principal_1',
  principal_key: 'anna',
  display_name: 'Anna',
  trust_tier: 'TRUSTED',
  tool_policy: 'full',
  tool_servers: '*',
  asks: 'never',
  bypass_moderation: false,
  denied: false,
  reason: 'granted SACRED, capped to TRUSTED on a public surface',
  explanation: {
    identifier: { surface: 'messenger', value: '42' },
    principal: { id: 'principal_1', key: 'anna', display_name: 'Anna', status: 'active' },
    grants: [judged(known, null), judged(brief, 'it is for messenger only')],
    capped_from: 'SACRED',
  },
};

test('an explanation lists grants that apply or not, the cap and the result', () => {
  expect(renderExplanation(explained, now, plain)).toMatchInlineSnapshot(`
    "messenger 42 is "anna" (Anna).

      counts    known (owner, tools: full)
      does not  trusted on messenger in k1 until 2026-11-21 09:00 (owner, tools: full): it is for messenger only

    In public nobody has more than trusted: owner was capped.

    trusted: may let it do anything on this machine."
  `);
});

test('an explanation says that a sender is unknown', () => {
  const nobody = { ...explained.explanation, principal: null, grants: [], capped_from: null };
  const denied = { ...explained, denied: true, reason: 'no principal has this identifier', explanation: nobody };
  expect(renderExplanation(denied, now, plain)).toContain(
    'messenger 42 is not known.\n\nDenied: no principal has this identifier.',
  );
});

test('an identifier is found ignoring case where its channel does', () => {
  expect(findIdentifier(anna, 'email', 'Anna@X.Y').id).toBe('identifier_2');
  expect(() => findIdentifier(anna, 'email', '42')).toThrow('"anna" is not known as email 42.');
});

test('a grant is found by role and place, and an ambiguous one is rejected', () => {
  expect(findGrant(anna, 'trusted', {}).id).toBe('grant_2');
  const twice = { ...anna, grants: [known, { ...known, id: 'grant_4', scope: { surface: 'email' } }] };
  expect(findGrant(twice, 'known', { surface: 'email' }).id).toBe('grant_4');
  expect(() => findGrant(twice, 'known', {})).toThrow('"anna" has the role known more than once.');
  expect(() => findGrant(anna, 'trusted', { surface: 'email' })).toThrow('"anna" does not have the role trusted on email.');
});
