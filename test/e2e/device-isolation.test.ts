import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Invitation, Paired } from '@svc/contract/device-gateway.ts';
import type { InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';

let house: House;
let url: string;
const instance = async () => (await house.get<{ instance: Instance }>(`${house.urls.manager}/instances/mobile`)).instance;

beforeAll(async () => {
  house = await openHouse();
  const wanted = { type: 'mobile', name: 'phones', config: { http_port: 0 }, enabled: true };
  await house.post(`${house.urls.manager}/instances`, wanted);
  await waitFor(
    async () => (await instance()).status === 'running',
    60_000,
    () => 'the gateway does not run',
  );
  ({ url = '' } = (await instance()) as { url: string });
  for (const [key, name] of [
    ['ann', 'Ann'],
    ['bob', 'Bob'],
  ] as const) {
    await house.post(`${house.urls.core}/trust/principals`, { key, display_name: name });
    const { body } = await house.post<{ roles: { id: string; name: string }[] }>(
      `${house.urls.core}/trust/principals/${key}/grants`,
      {
        role_id: await roleOf('known'),
        scope: {},
        expires_at: null,
      },
    );
    expect(body).toMatchObject({ principal_id: expect.any(String) });
  }
});
afterAll(() => house.stop());

async function roleOf(name: string): Promise<string> {
  const { roles } = await house.get<{ roles: { id: string; name: string }[] }>(`${house.urls.core}/trust/roles`);
  return roles.find((role) => role.name === name)?.id ?? '';
}

async function deviceOf(person: string): Promise<{ token: string; id: string; key: string }> {
  const call = { method: 'invite', params: { name: `Phone of ${person}` } };
  const { body } = await house.post<InstanceCallAnswer>(`${house.urls.manager}/instances/mobile/call`, call);
  const { code, identity } = (body as { result: Invitation }).result;
  await house.post(`${house.urls.core}/trust/principals/${person}/identifiers`, { surface: 'mobile', value: identity });
  const paired = (await (await ask(null, 'POST', '/gw/pair', { code })).json()) as Paired;
  return { token: paired.token, id: paired.device.id, key: `mobile:mobile:device:${paired.device.id}` };
}
const ask = (token: string | null, method: string, where: string, body?: object) =>
  fetch(`${url}${where}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test('a device cannot read or change conversations of another person; a device of the owner sees them all', async () => {
  const [ann, bob, owner] = [await deviceOf('ann'), await deviceOf('bob'), await deviceOf('owner')];
  expect((await ask(ann.token, 'POST', '/gw/turn', { text: 'echo a secret of Ann', message_id: 'm1' })).status).toBe(202);
  const history = (token: string) => ask(token, 'GET', `/gw/history?conversation_key=${ann.key}`);
  await expect.poll(async () => (await history(ann.token)).text()).toContain('assistant');
  const refused = [
    await history(bob.token),
    await ask(bob.token, 'GET', `/gw/stream?conversation_key=${ann.key}`),
    await ask(bob.token, 'POST', '/gw/turn', { text: 'echo in', message_id: 'm2', conversation_key: ann.key }),
    await ask(bob.token, 'POST', '/gw/stop', { conversation_key: ann.key }),
    await ask(bob.token, 'POST', '/gw/forget', { conversation_key: ann.key }),
    await ask(bob.token, 'POST', '/gw/rpc', { device_id: ann.id, method: 'vibrate' }),
    // Nor the conversations of other channels.
    await ask(bob.token, 'GET', '/gw/history?conversation_key=compat:compat:any'),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 404, 404]);
  for (const answer of refused) expect(await answer.text()).not.toContain('a secret of Ann');
  expect(await (await ask(bob.token, 'GET', '/gw/sessions')).text()).not.toContain(ann.id);
  expect(await (await ask(bob.token, 'GET', '/gw/presence')).text()).not.toContain(ann.id);
  expect(await (await history(owner.token)).text()).toContain('a secret of Ann');
  expect(await (await ask(owner.token, 'GET', '/gw/presence')).text()).toContain(ann.id);
  expect((await ask(ann.token, 'GET', '/gw/wake')).status).toBe(404);
}, 60_000);
