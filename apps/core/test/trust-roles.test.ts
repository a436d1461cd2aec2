import { describe, expect, test } from 'vitest';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { openTrustBench } from './open-trust-bench.ts';

const bench = openTrustBench();
const { add, addAnna, audit, call, fieldsOf, grant, ok, resolve, status } = bench;

describe('roles', () => {
  const friend = { name: 'friend', tier: 'KNOWN', tool_policy: 'read' };

  test('can be created, partly changed, listed and deleted', async () => {
    const made = await ok<Role>('POST', '/trust/roles', { ...friend, description: 'Friends.' });
    expect(made).toMatchObject({ ...friend, surfaces: '*', tool_servers: '*', description: 'Friends.' });
    expect(await ok('POST', '/trust/roles', friend)).toEqual(made);
    const changed = await ok<Role>('POST', '/trust/roles', { ...friend, tier: 'GUEST', surfaces: ['email'] });
    expect(changed).toEqual({ ...made, tier: 'GUEST', surfaces: ['email'] });
    const { roles } = await ok<{ roles: Role[] }>('GET', '/trust/roles');
    expect(roles.map(({ name }) => name)).toEqual(['owner', 'trusted', 'known', 'guest', 'friend']);
    expect(await ok('DELETE', '/trust/roles/friend')).toEqual({ ok: true });
    expect(await status('DELETE', `/trust/roles/${made.id}`)).toBe(404);
  });

  test('keep their tool servers when changed, and setting these is audited', async () => {
    expect(await ok('PUT', '/trust/roles/guest/tool-servers', { tool_servers: ['files'] })).toMatchObject({ role: 'guest' });
    const guest = await ok<Role>('POST', '/trust/roles', { name: 'guest', tier: 'GUEST', tool_policy: 'none' });
    expect(guest.tool_servers).toEqual(['files']);
    expect((await audit()).audit[0]).toMatchObject({ what: 'role_changed', after: { name: 'guest', tool_servers: ['files'] } });
    expect(await status('PUT', '/trust/roles/nobody/tool-servers', { tool_servers: '*' })).toBe(404);
  });

  test('have an "asks" setting, which is "never" by default', async () => {
    const made = await ok<Role>('POST', '/trust/roles', friend);
    expect(made.asks).toBe('never');
    expect((await ok<Role>('POST', '/trust/roles', { ...friend, asks: 'dangerous' })).asks).toBe('dangerous');
    expect((await ok<Role>('POST', '/trust/roles', friend)).asks).toBe('dangerous');
    expect((await audit()).audit[0]).toMatchObject({ before: { asks: 'never' }, after: { asks: 'dangerous' } });
    expect(await fieldsOf('POST', '/trust/roles', { ...friend, asks: 'often' })).toEqual(['body.asks']);
    await ok('POST', '/trust/roles', { name: 'known', tier: 'KNOWN', tool_policy: 'read', asks: 'always' });
    await addAnna();
    expect(await resolve('messenger', '42')).toMatchObject({ tool_policy: 'read', asks: 'always' });
  });

  test.each([
    [{ ...friend, tier: 'KING' }, ['body.tier']],
    [{ ...friend, tier: 'known' }, ['body.tier']],
    [{ ...friend, tier: '' }, ['body.tier']],
    [{ ...friend, tier: null, tool_policy: 'all' }, ['body.tier', 'body.tool_policy']],
    [{ name: 'friend' }, ['body.tier', 'body.tool_policy']],
    [{ ...friend, name: '__proto__' }, ['body.name']],
    [{ ...friend, teir: 'GUEST' }, ['body.teir']],
  ])('[T04] %j is rejected with its fields, and nothing is stored', async (body, fields) => {
    expect(await fieldsOf('POST', '/trust/roles', body)).toEqual(fields);
    expect((await ok<{ roles: Role[] }>('GET', '/trust/roles')).roles).toHaveLength(4);
  });

  test('with the name or id of another role are rejected with 409, ignoring case', async () => {
    const { roles } = await ok<{ roles: Role[] }>('GET', '/trust/roles');
    for (const name of ['Owner', 'GUEST', roles[0]?.id ?? '']) {
      expect([name, await status('POST', '/trust/roles', { ...friend, name })]).toEqual([name, 409]);
    }
    expect((await ok<{ roles: Role[] }>('GET', '/trust/roles')).roles).toEqual(roles);
  });

  test('[T04] an unknown tier is rejected with the list of tiers', async () => {
    const { message } = (await call('POST', '/trust/roles', { ...friend, tier: 'KING' })).json();
    expect(message).toContain('body.tier must be one of BLOCKED, UNKNOWN, GUEST, KNOWN, TRUSTED, SACRED');
  });

  test('[T04] an unknown tier in the store denies access', async () => {
    await addAnna();
    bench.core.context.db.raw.exec("UPDATE role SET tier = 'EMPEROR' WHERE name = 'known'");
    bench.core.context.trust.changed();
    expect(await resolve('messenger', '42')).toMatchObject({ denied: true });
  });

  test('in use cannot be deleted, and the error names the people', async () => {
    await addAnna();
    const refused = await call('DELETE', '/trust/roles/known');
    expect([refused.statusCode, refused.json()]).toMatchObject([409, { principals: ['anna'] }]);
    expect(refused.json().message).toContain('granted to anna');
  });

  test('require a list of channels, or "*" for all', async () => {
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: [] })).toBe(400);
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: 'email' })).toBe(400);
    expect(await status('POST', '/trust/roles', { ...friend, surfaces: ['*'] })).toBe(400);
  });
});

describe('grants', () => {
  test('apply in their scope and until they expire', async () => {
    await addAnna('guest');
    const scope = { surface: 'messenger', conversation_key: 'k1' };
    const made = await grant('anna', { role_id: 'trusted', scope, expires_at: bench.clock.now() + 1000 });
    expect(made).toMatchObject({ role: 'trusted', scope, expires_at: bench.clock.now() + 1000 });
    const tier = async (conversation_key: string) =>
      (await resolve('messenger', '42', { context: { conversation_key } }))['trust_tier'];
    expect([await tier('k1'), await tier('k2')]).toEqual(['TRUSTED', 'GUEST']);
    bench.clock.advance(1000);
    expect(await tier('k1')).toBe('GUEST');
  });

  test('given again change only their expiry', async () => {
    const first = await addAnna();
    expect(await grant('anna', { role_id: first.role_id })).toEqual(first);
    const until = bench.clock.now() + 1000;
    expect(await grant('anna', { role_id: 'known', expires_at: until })).toEqual({ ...first, expires_at: until });
    const places = [{ surface: 'email' }, { conversation_key: 'k1' }, { surface: 'email', conversation_key: 'k1' }];
    for (const scope of [...places, ...places]) await grant('anna', { role_id: 'known', scope });
    const { grants } = await ok<Principal>('GET', '/trust/principals/anna');
    expect(grants.map(({ scope }) => scope)).toEqual([{}, ...places]);
  });

  test('can be removed', async () => {
    const { id } = await addAnna();
    expect(await ok('DELETE', `/trust/grants/${id}`)).toEqual({ ok: true });
    expect(await resolve('messenger', '42')).toMatchObject({ denied: true, denial: 'no_grant' });
    expect(await status('DELETE', `/trust/grants/${id}`)).toBe(404);
  });

  test.each([
    ['no role', {}, 400],
    ['a role that is not there', { role_id: 'emperor' }, 404],
    ['an end in the past', { role_id: 'known', expires_at: 1 }, 400],
    ['an end that is no time', { role_id: 'known', expires_at: '2030-01-01' }, 400],
    ['a scope with a slip in it', { role_id: 'owner', scope: { surfaces: 'email' } }, 400],
    ['a field with a slip in it', { role_id: 'owner', scopes: { surface: 'email' } }, 400],
  ])('with %s are rejected', async (_what, body, expected) => {
    await add();
    expect(await status('POST', '/trust/principals/anna/grants', body)).toBe(expected);
    expect((await ok<Principal>('GET', '/trust/principals/anna')).grants).toEqual([]);
  });
});
