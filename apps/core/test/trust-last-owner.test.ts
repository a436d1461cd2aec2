import { describe, expect, test } from 'vitest';
import type { Principal } from '@svc/contract/trust.ts';
import { openTrustBench } from './open-trust-bench.ts';

const bench = openTrustBench();
const { add, addAnna, call, grant, ok, resolve, status } = bench;

describe('the last person with every right', () => {
  const owner = () => ok<Principal>('GET', '/trust/principals/owner');
  const isRefused = async (...args: Parameters<typeof call>) => {
    const before = await owner();
    const answer = await call(...args);
    expect([answer.statusCode, answer.json().error]).toEqual([409, 'conflict']);
    expect(await owner()).toEqual(before);
    expect(await resolve('compat', 'owner')).toMatchObject({ trust_tier: 'SACRED', denied: false });
  };

  test('cannot be disabled, deleted or blocked, or lose grant or role', async () => {
    const { grants } = await owner();
    await ok('POST', '/trust/roles', { name: 'blocked', tier: 'BLOCKED', tool_policy: 'none' });
    await isRefused('PATCH', '/trust/principals/owner', { status: 'disabled' });
    await isRefused('DELETE', '/trust/principals/owner');
    await isRefused('DELETE', `/trust/grants/${grants[0]?.id}`);
    await isRefused('POST', '/trust/principals/owner/grants', { role_id: 'owner', expires_at: bench.clock.now() + 1000 });
    await isRefused('POST', '/trust/principals/owner/grants', { role_id: 'blocked' });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'TRUSTED', tool_policy: 'full' });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'full', surfaces: ['email'] });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'none' });
    await isRefused('POST', '/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'read' });
    await isRefused('DELETE', '/trust/roles/owner');
  });

  test('can be renamed, and can be removed while another person has every right permanently', async () => {
    await ok('PATCH', '/trust/principals/owner', { display_name: 'Ada' });
    await addAnna('owner');
    const until = await grant('anna', { role_id: 'owner', scope: { surface: 'email' } });
    await ok('PATCH', '/trust/principals/owner', { status: 'disabled' });
    await ok('DELETE', `/trust/grants/${until.id}`);
    expect(await status('PATCH', '/trust/principals/anna', { status: 'disabled' })).toBe(409);
    await ok('PATCH', '/trust/principals/owner', { status: 'active' });
    await ok('DELETE', '/trust/principals/anna');
  });

  test.each([
    ['for a while only', { role_id: 'owner', expires_at: 1_900_000_000_000 }],
    ['in one place only', { role_id: 'owner', scope: { surface: 'email' } }],
    ['in one conversation only', { role_id: 'owner', scope: { conversation_key: 'k' } }],
  ])('counts as the last beside a person with every right %s', async (_how, body) => {
    await add();
    await grant('anna', body);
    expect(await status('DELETE', '/trust/principals/owner')).toBe(409);
  });

  test('of two concurrent deletions of the last two owners, one is refused', async () => {
    await addAnna('owner');
    const statuses = await Promise.all([status('DELETE', '/trust/principals/owner'), status('DELETE', '/trust/principals/anna')]);
    expect(statuses.toSorted()).toEqual([200, 409]);
  });
});

describe('an owner without full tools', () => {
  const weak = { name: 'weak', tier: 'SACRED', tool_policy: 'read' };

  test('does not count as the last person with every right', async () => {
    await ok('POST', '/trust/roles', weak);
    await addAnna('weak');
    expect(await status('DELETE', '/trust/principals/owner')).toBe(409);
    expect(await status('POST', '/trust/roles', { ...weak, tool_policy: 'none' })).toBe(200);
    expect(await status('DELETE', '/trust/principals/anna')).toBe(200);
  });
});

describe('refusal to remove the last person with every right', () => {
  test('names the person and the remedy', async () => {
    expect((await call('DELETE', '/trust/principals/owner')).json().message).toMatch(
      /^"owner" is the last person with every right \(owner, .* another person such a role/s,
    );
  });

  test('also applies while the only other owner is blocked', async () => {
    await ok('POST', '/trust/roles', { name: 'blocked', tier: 'BLOCKED', tool_policy: 'none' });
    await addAnna('owner');
    await grant('anna', { role_id: 'blocked' });
    expect(await status('DELETE', '/trust/principals/owner')).toBe(409);
    const { grants } = await ok<Principal>('GET', '/trust/principals/anna');
    await ok('DELETE', `/trust/grants/${grants.find(({ role }) => role === 'blocked')?.id}`);
    expect(await status('DELETE', '/trust/principals/owner')).toBe(200);
  });
});
