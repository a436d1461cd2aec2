import type { Identity } from '@svc/connector-kit';
import type { Capability } from '@svc/contract/device-actions.ts';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

const capabilities: Capability[] = [
  { name: 'vibrate', description: 'Vibrates.', policy: 'full', input: { type: 'object' } },
  { name: 'geolocation', description: 'Where it is.', policy: 'read' },
  { name: 'open_url', description: 'Opens a page.', policy: 'full', dangerous: true },
];

async function openHouse() {
  const gateway = await openGateway();
  const phone = await gateway.device('Phone');
  const described = await gateway.json(phone.token, 'PATCH', '/gw/device', { capabilities });
  expect(described.status).toBe(200);
  const id = phone.device.id;
  return { gateway, phone, id, allow: (capability: string) => gateway.call('allow', { device_id: id, capability }) };
}
const asPerson = (identity: Partial<Identity>) => async () =>
  ({ denied: false, trust_tier: 'KNOWN', tool_policy: 'full', ...identity }) as Identity;

test('a device executes a call once and returns its result', async () => {
  const { gateway, phone, id } = await openHouse();
  const desk = await gateway.device('Desk');
  const control = await gateway.read(phone.token, '/gw/control');
  const other = await gateway.read(desk.token, '/gw/control');
  const asked = gateway.json(desk.token, 'POST', '/gw/rpc', { device_id: id, method: 'vibrate', params: { ms: 50 } });
  await expect.poll(control.types).toEqual(['ready', 'device_rpc']);
  const { rpc_id, method, params } = control.events[1]!.data;
  expect([method, params, other.types()]).toEqual(['vibrate', { ms: 50 }, ['ready']]);
  const answer = (token: string, body: object) => gateway.json(token, 'POST', '/gw/rpc-result', body);
  expect((await answer(desk.token, { rpc_id, ok: true })).status).toBe(403);
  expect((await answer(phone.token, { rpc_id: 'rpc_none', ok: true })).status).toBe(404);
  expect((await answer(phone.token, { rpc_id, ok: true, result: { done: true } })).status).toBe(200);
  expect((await answer(phone.token, { rpc_id, ok: true, result: 'again' })).status).toBe(409);
  expect(await asked).toEqual({ status: 200, body: { ok: true, rpc_id, result: { done: true } } });
  expect(gateway.fake().events).toEqual([
    expect.objectContaining({
      kind: 'device',
      payload: { rpc_id, device_id: id, method: 'vibrate', by: desk.device.id, outcome: 'done' },
    }),
  ]);
});

test('rejects calls that are not allowed or unknown, and calls to a device that is offline or slow', async () => {
  const { gateway, phone, id, allow } = await openHouse();
  const ask = (method: string, more = {}) => gateway.json(phone.token, 'POST', '/gw/rpc', { device_id: id, method, ...more });
  expect((await ask('geolocation')).body['message']).toContain('./svc device allow NAME geolocation');
  expect((await ask('unlock_door')).status).toBe(403);
  expect((await ask('vibrate')).status).toBe(503);
  await allow('geolocation');
  const control = await gateway.read(phone.token, '/gw/control');
  expect(await ask('geolocation', { timeout_ms: 30 })).toMatchObject({ status: 504 });
  expect(await ask('geolocation', { wait: false })).toMatchObject({
    status: 202,
    body: { ok: true, rpc_id: expect.stringMatching(/^rpc_/) },
  });
  expect((await ask('geolocation', { params: { x: 'x'.repeat(70_000) } })).status).toBe(400);
  await gateway.call('deny', { device_id: id, capability: 'geolocation' });
  expect((await ask('geolocation')).status).toBe(403);
  expect(control.types().filter((type) => type === 'device_rpc')).toHaveLength(2);
});

test('hides the devices of other people, and applies the tool policy of the caller', async () => {
  const { gateway, phone, id } = await openHouse();
  const stranger = await gateway.device('Stranger');
  gateway.core().resolve = async ({ sender }) =>
    (await asPerson({ principal_id: sender.raw_id, tool_policy: 'read' })()) as Identity;
  const rpc = { device_id: id, method: 'vibrate' };
  expect((await gateway.json(stranger.token, 'POST', '/gw/rpc', rpc)).status).toBe(404);
  expect((await gateway.json(phone.token, 'POST', '/gw/rpc', rpc)).status).toBe(403);
  const { devices } = (await gateway.json(stranger.token, 'GET', '/gw/devices')).body as { devices: unknown[] };
  const presence = (await gateway.json(stranger.token, 'GET', '/gw/presence')).body as { devices: { name: string }[] };
  expect([devices, presence.devices.map(({ name }) => name)]).toEqual([[], ['Stranger']]);
});

test('the engine of a device’s own turn gets its allowed capabilities as tools, which this device executes', async () => {
  const { gateway, phone, id, allow } = await openHouse();
  await allow('open_url');
  await gateway.json(phone.token, 'POST', '/gw/turn', { text: 'open it', message_id: 'm1' });
  expect(gateway.core().turns[0]?.envelope.device_tools).toEqual([
    { name: 'vibrate', description: 'Vibrates.', policy: 'full', input: { type: 'object' }, call: 'act', asks: false },
    { name: 'open_url', description: 'Opens a page.', policy: 'full', call: 'act', asks: true },
  ]);
  const control = await gateway.read(phone.token, '/gw/control');
  const act = (target: string) =>
    gateway.live().call!(
      target,
      'act',
      { tool: 'open_url', params: { url: 'https://example.org' } },
      new AbortController().signal,
    );
  const acted = act(id);
  const refused = expect(acted).rejects.toThrow('The device reported an error: The browser refused.');
  await expect.poll(control.types).toContain('device_rpc');
  const { rpc_id } = control.events.at(-1)!.data;
  await gateway.json(phone.token, 'POST', '/gw/rpc-result', { rpc_id, ok: false, error: 'The browser refused.' });
  await refused;
  await expect(act('d_other')).rejects.toMatchObject({ code: 'not_found' });
});

test('limits the description of a device, persists it, and removes it with the device', async () => {
  const { gateway, phone, id } = await openHouse();
  const describe = (given: unknown) => gateway.json(phone.token, 'PATCH', '/gw/device', { capabilities: given });
  for (const wrong of [
    Array.from({ length: 33 }, (_, n) => ({ ...capabilities[0], name: `c${n}` })),
    [capabilities[0], capabilities[0]],
    [{ ...capabilities[0], name: '../../etc' }],
    [{ ...capabilities[0], input: { description: 'x'.repeat(5000) } }],
    [{ name: 'vibrate', description: 'x' }],
  ])
    expect((await describe(wrong)).status).toBe(400);
  await gateway.restart();
  const seen = (await gateway.json(phone.token, 'GET', '/gw/devices')).body as { devices: { capabilities: object[] }[] };
  expect(seen.devices[0]?.capabilities).toEqual([
    { ...capabilities[0], dangerous: false, allowed: true },
    { ...capabilities[1], dangerous: false, allowed: false },
    { ...capabilities[2], allowed: false },
  ]);
  const control = await gateway.read(phone.token, '/gw/control');
  const open = gateway.json(phone.token, 'POST', '/gw/rpc', { device_id: id, method: 'vibrate' });
  await expect.poll(control.types).toContain('device_rpc');
  await gateway.call('revoke', { device_id: id });
  expect((await open).status).toBe(503);
  expect(await gateway.fake().context.state.list('capabilities/')).toEqual([]);
});
