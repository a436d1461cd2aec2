import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import type { RegisteredClient } from '../people/clients-file.ts';
import { createStoredModels } from './stored-models.ts';

const own: RegisteredClient = {
  client_id: 'own',
  client_secret: 'a-secret-of-more-than-16',
  client_name: 'Own',
  redirect_uris: ['https://own.example/cb'],
  identity: { userId: 'ann', username: 'Ann' },
};

function open() {
  const [clock, state] = [createFakeClock(), createMemoryState()];
  const clients = { find: (id: string) => (id === own.client_id ? own : null), list: () => [own], problem: () => null };
  return { clock, state, models: createStoredModels({ state, clients, clock }) };
}

test.each(['AccessToken', 'Session'])('a %s expires at the end of its lifetime', async (model) => {
  const { clock, models } = open();
  const adapter = models.adapterOf(model);
  await adapter.upsert('a', { clientId: 'c', jti: 'a' }, 60);
  clock.advance(59_999);
  expect(await adapter.find('a')).toMatchObject({ clientId: 'c', jti: 'a' });
  clock.advance(1);
  expect(await adapter.find('a')).toBeUndefined();
  await adapter.consume('a');
  expect(await adapter.find('a')).toBeUndefined();
});

test.each(['Client', 'Session'])('a %s without a lifetime does not expire', async (model) => {
  const { clock, models } = open();
  const adapter = models.adapterOf(model);
  await adapter.upsert('a', { client_id: 'a' }, undefined as never);
  await adapter.upsert('b', { client_id: 'b' }, 0);
  clock.advance(1e12);
  expect([await adapter.find('a'), await adapter.find('b')]).toEqual([{ client_id: 'a' }, { client_id: 'b' }]);
});

test.each(['RefreshToken', 'Interaction'])('consume() marks a %s as used', async (model) => {
  const { clock, models } = open();
  const adapter = models.adapterOf(model);
  await adapter.upsert('a', { clientId: 'c' }, 60);
  await adapter.consume('a');
  await adapter.consume('unknown');
  expect(await adapter.find('a')).toMatchObject({ clientId: 'c', consumed: Math.floor(clock.now() / 1000) });
  expect(await adapter.find('unknown')).toBeUndefined();
});

test.each(['AccessToken', 'Interaction'])('destroy() removes a %s', async (model) => {
  const { models } = open();
  const adapter = models.adapterOf(model);
  await adapter.upsert('a', { clientId: 'c' }, 60);
  await adapter.destroy('a');
  expect(await adapter.find('a')).toBeUndefined();
});

test('stores no secret value as is, only the ids of clients', async () => {
  const { state, models } = open();
  await models.adapterOf('AccessToken').upsert('the-token', { jti: 'the-token', clientId: 'c' }, 60);
  await models.adapterOf('Client').upsert('the-client', { client_id: 'the-client' }, 0);
  const kept = JSON.stringify(await state.list(''));
  expect(kept).not.toContain('the-token');
  expect(await models.clientIds()).toEqual(['the-client']);
});

test('lists registered clients in the order of their registration', async () => {
  const { clock, models } = open();
  const ids = Array.from({ length: 10 }, (_, n) => `client-${n}`);
  for (const id of ids) {
    await models.adapterOf('Client').upsert(id, { client_id: id }, 0);
    clock.advance(1);
  }
  expect(await models.clientIds()).toEqual(ids);
});

test('keeps kinds separate: a code is not a token', async () => {
  const { models } = open();
  await models.adapterOf('AuthorizationCode').upsert('a', { clientId: 'c' }, 60);
  await models.adapterOf('Session').upsert('s', { uid: 'one' }, 60);
  for (const model of ['AccessToken', 'RefreshToken', 'Grant', 'Session', 'Interaction'])
    expect([model, await models.adapterOf(model).find('a')]).toEqual([model, undefined]);
  expect(await models.adapterOf('Interaction').find('s')).toBeUndefined();
});

test('revokeByGrantId() removes what belongs to the grant only', async () => {
  const { models } = open();
  const adapter = models.adapterOf('AccessToken');
  await adapter.upsert('a', { grantId: 'one' }, 60);
  await adapter.upsert('b', { grantId: 'other' }, 60);
  await models.adapterOf('RefreshToken').upsert('a', { grantId: 'one' }, 60);
  await adapter.revokeByGrantId('one');
  expect([await adapter.find('a'), await adapter.find('b')]).toMatchObject([undefined, { grantId: 'other' }]);
  expect(await models.adapterOf('RefreshToken').find('a')).toBeDefined();
});

test('forgetClient() removes what belongs to the client, and its registration if asked', async () => {
  const { clock, models } = open();
  const given = ['AccessToken', 'RefreshToken', 'AuthorizationCode', 'Grant'];
  const left = async (id: string) =>
    (await Promise.all(given.map((model) => models.adapterOf(model).find(id)))).filter((found) => found !== undefined).length;
  for (const id of ['c', 'd']) {
    await models.adapterOf('Client').upsert(id, { client_id: id }, 0);
    clock.advance(1);
    for (const model of given) await models.adapterOf(model).upsert(id, { clientId: id }, 60);
  }
  await models.forgetClient('c', { registration: false });
  expect([await left('c'), await left('d'), await models.clientIds()]).toEqual([0, 4, ['c', 'd']]);
  await models.forgetClient('c', { registration: true });
  expect(await models.clientIds()).toEqual(['d']);
});

test('sweep() removes expired entries only', async () => {
  const { clock, state, models } = open();
  await models.adapterOf('AccessToken').upsert('short', { clientId: 'c' }, 1);
  await models.adapterOf('AccessToken').upsert('long', { clientId: 'c' }, 60);
  await models.adapterOf('Client').upsert('c', { client_id: 'c' }, 0);
  clock.advance(1_000);
  await models.sweep();
  expect(await state.list('')).toHaveLength(2);
});

test('sweep() removes a used refresh token after a week, long before its end', async () => {
  const { clock, models } = open();
  const adapter = models.adapterOf('RefreshToken');
  const dayMs = 24 * 60 * 60_000;
  for (const id of ['used', 'unused']) await adapter.upsert(id, { clientId: 'c' }, 90 * 24 * 60 * 60);
  await adapter.consume('used');
  clock.advance(7 * dayMs - 1000);
  await models.sweep();
  expect(await adapter.find('used')).toMatchObject({ clientId: 'c' });
  clock.advance(2000);
  await models.sweep();
  expect([await adapter.find('used'), await adapter.find('unused')]).toEqual([undefined, { clientId: 'c', jti: 'unused' }]);
});

test("the operator's file overrides a registration with the same client id", async () => {
  const { models } = open();
  await models.adapterOf('Client').upsert('own', { client_id: 'own', redirect_uris: ['https://evil.example/cb'] }, 0);
  expect(await models.adapterOf('Client').find('own')).toEqual({
    client_id: 'own',
    client_secret: own.client_secret,
    client_name: 'Own',
    redirect_uris: own.redirect_uris,
    token_endpoint_auth_method: 'client_secret_basic',
  });
  expect(await models.adapterOf('AccessToken').find('own')).toBeUndefined();
});

test('keeps at most 2,000 pending authorizations, and finds a session by its uid', async () => {
  const { clock, models } = open();
  const adapter = models.adapterOf('Session');
  for (let n = 0; n < 1_999; n++) await adapter.upsert(`s${n}`, { uid: `u${n}` }, 60);
  await adapter.upsert('s0', { uid: 'u0' }, 60); // again: now it is the newest
  await adapter.upsert('last', { uid: 'last' }, 60);
  expect(await adapter.find('s1')).toEqual({ uid: 'u1' });
  await adapter.upsert('more', { uid: 'more' }, 60);
  expect([await adapter.find('s0'), await adapter.find('s1')]).toEqual([{ uid: 'u0' }, undefined]);
  expect([await adapter.findByUid('u7'), await adapter.findByUid('u1')]).toEqual([{ uid: 'u7' }, undefined]);
  clock.advance(60_000);
  expect(await adapter.findByUid('u7')).toBeUndefined();
});
