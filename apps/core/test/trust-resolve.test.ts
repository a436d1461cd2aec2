import { describe, expect, test } from 'vitest';
import { openTrustBench } from './open-trust-bench.ts';

const bench = openTrustBench();
const { addAnna, grant, ok, resolve } = bench;

describe('POST /trust/resolve', () => {
  test('caps trust when the envelope or its context is public', async () => {
    for (const more of [{ public: true }, { context: { public: true } }]) {
      expect(await resolve('compat', 'owner', more)).toMatchObject({ trust_tier: 'TRUSTED', tool_policy: 'full' });
    }
    expect(await resolve('compat', 'owner', { context: { public: false } })).toMatchObject({ trust_tier: 'SACRED' });
  });

  test('explains which grants apply, which do not, and what was capped', async () => {
    await addAnna('owner');
    await grant('anna', { role_id: 'guest', scope: { surface: 'email' } });
    await grant('anna', { role_id: 'known', scope: { conversation_key: 'k1' } });
    await grant('anna', { role_id: 'trusted', expires_at: bench.clock.now() + 1 });
    await ok('POST', '/trust/roles', { name: 'mail', tier: 'KNOWN', tool_policy: 'read', surfaces: ['email', 'issues'] });
    await grant('anna', { role_id: 'mail' });
    bench.clock.advance(1);
    const explained = await resolve('messenger', '42', { public: true, explain: true });
    expect(explained).toMatchObject({
      trust_tier: 'TRUSTED',
      explanation: {
        identifier: { surface: 'messenger', value: '42' },
        principal: { key: 'anna', status: 'active' },
        capped_from: 'SACRED',
      },
    });
    const { grants } = explained['explanation'] as { grants: { role: string; misfit: string | null }[] };
    expect(Object.fromEntries(grants.map(({ role, misfit }) => [role, misfit]))).toEqual({
      owner: null,
      guest: 'it is for email only',
      known: 'it is for the conversation k1 only',
      trusted: 'it has expired',
      mail: 'the role applies only on email, issues',
    });
  });

  test('gives the reason for a tier or a denial', async () => {
    expect(await resolve('compat', 'owner')).toMatchObject({ reason: 'granted SACRED' });
    expect(await resolve('compat', 'owner', { public: true })).toMatchObject({
      reason: 'granted SACRED, capped to TRUSTED on a public surface',
    });
    expect(await resolve('compat', 'x')).toMatchObject({
      reason: 'no person has this identifier on this channel',
      display_name: 'unknown',
    });
    const { id } = await addAnna('guest');
    await ok('DELETE', `/trust/grants/${id}`);
    expect(await resolve('messenger', '42')).toMatchObject({
      reason: 'the person has no role that applies here',
      display_name: 'Anna',
    });
    await ok('PATCH', '/trust/principals/anna', { status: 'disabled' });
    expect(await resolve('messenger', '42')).toMatchObject({ reason: 'the person is disabled' });
  });

  test('explains the scope of each grant', async () => {
    await addAnna();
    const scopes = [{ surface: 'email' }, { conversation_key: 'k1' }, { surface: 'email', conversation_key: 'k1' }];
    for (const scope of scopes) await grant('anna', { role_id: 'guest', scope });
    const { grants } = (await resolve('messenger', '42', { explain: true }))['explanation'] as { grants: { scope: object }[] };
    expect(grants.map(({ scope }) => scope)).toEqual(expect.arrayContaining([{}, ...scopes]));
    expect(await resolve('compat', 'owner', { explain: true })).toMatchObject({ explanation: { capped_from: null } });
  });

  test('returns bypass_moderation as set for the person', async () => {
    await addAnna();
    expect(await resolve('messenger', '42')).toMatchObject({ bypass_moderation: false });
    expect(await ok('PATCH', '/trust/principals/anna', { bypass_moderation: true })).toMatchObject({ bypass_moderation: true });
    expect(await resolve('messenger', '42')).toMatchObject({ bypass_moderation: true });
  });

  test('explains that a sender is unknown', async () => {
    expect(await resolve('email', 'X@y.z', { explain: true })).toMatchObject({
      denied: true,
      explanation: { identifier: { value: 'x@y.z' }, principal: null, grants: [], capped_from: null },
    });
  });

  test('explains a disabled person and a closed gate', async () => {
    await addAnna();
    await ok('PATCH', '/trust/principals/anna', { status: 'disabled' });
    expect(await resolve('messenger', '42', { explain: true })).toMatchObject({
      denial: 'disabled',
      explanation: { principal: { status: 'disabled' }, grants: [{ role: 'known', misfit: null }] },
    });
    bench.core.context.trust.closeGate('no trust');
    expect(await resolve('messenger', '42', { explain: true })).toMatchObject({ denial: 'gate_closed', reason: 'no trust' });
  });
});
