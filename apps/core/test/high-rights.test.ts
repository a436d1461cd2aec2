import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { secondFactorHeaders } from '@svc/service-kit/http/second-factor.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envelope } from './open-test-core.ts';
import { openTestTrust, type TestTrust } from './open-test-trust.ts';

const users = createRemoteUsers('s'.repeat(43));
const named = users.headersFor('anna');
const proven = { ...named, ...secondFactorHeaders(true) };
const dayMs = 86_400_000;
let clock: FakeClock;
let core: TestTrust;

beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestTrust(clock, users);
  await core.addPrincipal('ben', 'guest');
});
afterEach(() => core.close());

type Method = 'POST' | 'PATCH' | 'DELETE';
const call = (method: Method, url: string, headers: Record<string, string>, payload: object = {}) =>
  core.app.inject({ method, url, headers, payload });
const read = async (key: string) => (await core.app.inject(`/trust/principals/${key}`)).json<Principal>();
/** The status of a change without a fresh second factor, with one, and from a program of this machine. */
async function ways(method: Method, url: string, payload: object = {}): Promise<number[]> {
  const codes = [];
  for (const headers of [named, proven, {}]) codes.push((await call(method, url, headers, payload)).statusCode);
  return codes;
}

describe('fresh second factor for changes through the dashboard', () => {
  test.each([
    ['owner', [403, 200, 200]],
    ['trusted', [403, 200, 200]],
    ['known', [200, 200, 200]],
    ['guest', [200, 200, 200]],
    ['nothing-such', [404, 404, 404]],
  ])('is required to grant the role %s: %j', async (role_id, codes) => {
    expect(await ways('POST', '/trust/principals/ben/grants', { role_id })).toEqual(codes);
  });

  test('is required to grant a role of a low tier with full tools', async () => {
    await call('POST', '/trust/roles', {}, { name: 'worker', tier: 'GUEST', tool_policy: 'full' });
    const refused = await call('POST', '/trust/principals/ben/grants', named, { role_id: 'worker' });
    expect(refused.json()).toMatchObject({ error: 'forbidden', step_up: true });
    expect((await read('ben')).grants).toHaveLength(1);
  });

  test('is required to enable a person with high rights or exempt one from moderation, not to disable, rename or annotate', async () => {
    await core.addPrincipal('carla', 'trusted');
    expect(await ways('PATCH', '/trust/principals/carla', { status: 'disabled' })).toEqual([200, 200, 200]);
    expect(await ways('PATCH', '/trust/principals/carla', { display_name: 'Carla', notes: 'x' })).toEqual([200, 200, 200]);
    expect(await ways('PATCH', '/trust/principals/carla', { status: 'active' })).toEqual([403, 200, 200]);
    expect(await ways('PATCH', '/trust/principals/ben', { status: 'active', notes: 'x' })).toEqual([200, 200, 200]);
    expect(await ways('PATCH', '/trust/principals/ben', { bypass_moderation: true })).toEqual([403, 200, 200]);
  });

  test('is required to remove a blocking grant, not to remove an allowing one', async () => {
    await call('POST', '/trust/roles', {}, { name: 'out', tier: 'BLOCKED', tool_policy: 'none' });
    await call('POST', '/trust/principals/ben/grants', {}, { role_id: 'out' });
    const [guest, out] = ['guest', 'out'].map(async (name) => (await read('ben')).grants.find(({ role }) => role === name)?.id);
    expect(await ways('DELETE', `/trust/grants/${await out}`)).toEqual([403, 200, 404]);
    expect(await ways('DELETE', `/trust/grants/${await guest}`)).toEqual([200, 404, 404]);
  });

  const stranger = async (raw_id: string) => {
    core.context.pending.note(envelope('hi', { sender: { raw_id }, intake: { pairing: true } }), { denial: 'unknown_sender' });
    const { pending } = (await core.app.inject('/trust/pending')).json<{ pending: PendingIdentity[] }>();
    return pending.find(({ value }) => value === raw_id) as PendingIdentity;
  };

  test('is required to pair a stranger by code when the default role has high rights', async () => {
    const { code } = await stranger('x');
    await call('POST', '/trust/roles', {}, { name: 'known', tier: 'KNOWN', tool_policy: 'full' });
    expect(await ways('POST', '/trust/pair', { code })).toEqual([403, 200, 404]);
  });

  test('is required to link a stranger with high rights: by a new role, to a person, by a code', async () => {
    const { id, code } = await stranger('x');
    const link = `/trust/pending/${id}/link`;
    const owner = await read('owner');
    const tries: [string, object][] = [
      [link, { principal: { key: 'x', role: 'owner' } }],
      [link, { principal_id: owner.id }],
      ['/trust/pair', { code, as: 'owner' }],
      ['/trust/pair', { code, role: 'trusted' }],
    ];
    for (const [url, body] of tries) expect((await call('POST', url, named, body)).statusCode).toBe(403);
    expect((await call('POST', link, named, { principal: { key: 'x', role: 'guest' } })).statusCode).toBe(200);
  });
});

test('a grant limited to a day and a channel is refused after it expires', async () => {
  core.context.pending.note(envelope('hi', { sender: { raw_id: 'x' } }), { denial: 'unknown_sender' });
  const { pending } = (await core.app.inject('/trust/pending')).json<{ pending: PendingIdentity[] }>();
  const link = (expires_at: number) =>
    call('POST', `/trust/pending/${pending[0]?.id}/link`, named, {
      principal: { key: 'x', role: 'guest', scope: { surface: 'compat' }, expires_at },
    });
  expect((await link(clock.now())).json()).toMatchObject({ error: 'bad_request' });
  expect((await link(clock.now() + dayMs)).statusCode).toBe(200);
  expect((await read('x')).grants).toMatchObject([
    { role: 'guest', scope: { surface: 'compat' }, expires_at: clock.now() + dayMs },
  ]);
  const message = envelope('hi', { sender: { raw_id: 'x' } });
  clock.advance(dayMs - 1);
  expect(await core.letsIn(message)).toBe(true);
  clock.advance(1);
  expect(await core.letsIn(message)).toBe(false);
});
