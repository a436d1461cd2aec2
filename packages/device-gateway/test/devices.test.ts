import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

test('pairs a device once with the code of its link, and lists it for the owner', async () => {
  const gateway = await openGateway();
  const { code, url, device_id: id } = await gateway.invite('Phone');
  expect(url).toBe(`${gateway.live().url}/#pair=${code}`);
  expect(await gateway.listed()).toMatchObject([{ device_id: id, name: 'Phone', state: 'invited', online: false }]);
  const { status, body } = await gateway.json(null, 'POST', '/gw/pair', { code, platform: 'Android' });
  expect([status, body]).toEqual([
    200,
    {
      ok: true,
      token: expect.stringMatching(/^svcd_/),
      device: { id, name: 'Phone' },
      assistant: 'assistant',
      instance_id: 'inst_1',
    },
  ]);
  const refusals = await Promise.all(
    [code, 'never-given', 'x'.repeat(128)].map((wrong) => gateway.json(null, 'POST', '/gw/pair', { code: wrong })),
  );
  const said = refusals.map(({ status: refused, body: { message } }) => `${refused} ${message as string}`);
  expect(new Set(said)).toEqual(new Set([expect.stringMatching(/^403 This link is invalid, used or has expired/)]));
  expect(await gateway.listed()).toMatchObject([{ state: 'paired', platform: 'Android' }]);
  expect(JSON.stringify(await gateway.listed())).not.toMatch(/token|svcd_/);
});

test('links start with base_url, which must be an http(s) origin', async () => {
  const gateway = await openGateway({ base_url: 'https://Phone.example.org/' });
  expect((await gateway.invite('Phone')).url).toMatch(/^https:\/\/phone\.example\.org\/#pair=/);
  expect((await (await openGateway({ base_url: 'http://192.168.1.5:3028' })).invite('Phone')).url).toMatch(/^http:\/\/192/);
  for (const base_url of ['https://phone.example.org/app', 'phone.example.org', 'ftp://phone.example.org'])
    await expect(openGateway({ base_url })).rejects.toThrow(/^base_url must/);
});

test('the owner allows and denies the capabilities of a device', async () => {
  const gateway = await openGateway();
  const { device } = await gateway.device('Phone');
  const change = (method: string, capability: unknown) => gateway.call(method, { device_id: device.id, capability });
  expect(await change('allow', 'geolocation')).toMatchObject({ allowed: ['notify', 'vibrate', 'wake_lock', 'geolocation'] });
  expect(await change('deny', 'notify')).toMatchObject({ allowed: ['vibrate', 'wake_lock', 'geolocation'] });
  await gateway.restart();
  expect(await gateway.listed()).toMatchObject([{ allowed: ['vibrate', 'wake_lock', 'geolocation'] }]);
  for (const wrong of ['Open URL', '', 7, undefined, 'x'.repeat(100)])
    await expect(change('allow', wrong)).rejects.toMatchObject({ code: 'bad_request' });
  await expect(gateway.call('allow', { device_id: 'd_unknown', capability: 'notify' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('limits the rate of wrong codes, and still accepts a valid one', async () => {
  const gateway = await openGateway();
  const { code } = await gateway.invite('Phone');
  const answers = [];
  for (let n = 0; n < 25; n++) answers.push((await gateway.json(null, 'POST', '/gw/pair', { code: `wrong-${n}` })).status);
  expect([answers.slice(0, 20).every((status) => status === 403), answers.at(-1)]).toEqual([true, 429]);
  expect((await gateway.json(null, 'POST', '/gw/pair', { code })).status).toBe(200);
});

test('all other routes require the token in the header, not in the address', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  for (const [method, where] of [
    ['GET', '/gw/stream'],
    ['GET', '/gw/control'],
    ['POST', '/gw/turn'],
    ['POST', '/gw/stop'],
    ['POST', '/gw/answer'],
    ['POST', '/gw/forget'],
    ['GET', '/gw/sessions'],
    ['GET', '/gw/history'],
    ['GET', '/gw/presence'],
    ['PATCH', '/gw/device'],
    ['DELETE', '/gw/device'],
    ['POST', '/gw/upload?filename=a'],
    ['POST', '/gw/transcribe'],
    ['POST', '/gw/tts'],
    ['GET', '/gw/theme'],
    ['GET', '/gw/wake'],
    ['GET', '/gw/wake/file'],
    ['GET', '/gw/app'],
    ['GET', '/gw/download'],
    ['GET', '/gw/devices'],
    ['POST', '/gw/rpc'],
    ['POST', '/gw/rpc-result'],
    ['GET', '/gw/voice-config'],
    ['POST', '/gw/voice-config'],
  ] as const) {
    const mark = where.includes('?') ? '&' : '?';
    for (const [given, at] of [
      [null, where],
      ['svcd_wrong', where],
      [null, `${where}${mark}token=${token}`],
    ] as const)
      expect(`${method} ${at} ${(await gateway.ask(given, method, at, method === 'GET' ? undefined : {})).status}`).toMatch(
        / (401|429)$/,
      );
  }
  expect((await gateway.json(token, 'GET', '/gw/history')).status).toBe(200);
});

test('a device cannot take an invalid name or that of another device', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  const rename = async (name: string) => (await gateway.json(bob.token, 'PATCH', '/gw/device', { name })).status;
  for (const name of ['   ', 'a\u0007', '\n', '😀'.repeat(50)]) expect([name, await rename(name)]).toEqual([name, 400]);
  expect(await rename('Ann')).toBe(409);
  await expect(gateway.call('rename', { device_id: bob.device.id, name: 'Ann' })).rejects.toMatchObject({ code: 'conflict' });
  expect([await rename(' Bob '), await rename('Bobby')]).toEqual([200, 200]);
  await gateway.restart();
  expect(gateway.live().health()).toEqual({ healthy: true });
  expect((await gateway.listed()).map(({ name }) => name)).toEqual(['Ann', 'Bobby']);
  expect((await gateway.json(ann.token, 'GET', '/gw/history')).status).toBe(200);
});

test('signing out ends the streams and the access of the device', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const stream = await gateway.read(token);
  expect((await gateway.json(token, 'DELETE', '/gw/device')).status).toBe(200);
  await stream.ended;
  expect((await gateway.json(token, 'GET', '/gw/history')).status).toBe(401);
});

test('rejects all devices with 503 while the keys file is broken, and loses no token or code', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const { code } = await gateway.invite('Tablet');
  const file = path.join(gateway.folder, 'keys.json');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, 'broken');
  const history = () => gateway.json(token, 'GET', '/gw/history');
  const pair = () => gateway.json(null, 'POST', '/gw/pair', { code });
  await expect.poll(async () => (await history()).status).toBe(503);
  for (const { status, body } of [await history(), await pair()])
    expect([status, body['message']]).toEqual([503, expect.stringContaining('The keys file lets nobody in')]);
  expect(gateway.live().health()).toEqual({ healthy: false, detail: expect.stringContaining('The keys file lets nobody in') });
  expect((await gateway.json(null, 'GET', '/health')).body).toMatchObject({ status: 'degraded' });

  writeFileSync(file, good);
  await expect.poll(async () => (await history()).status).toBe(200);
  expect([(await pair()).status, (await pair()).status]).toEqual([200, 403]);
});

test('without required tokens a caller is the device "local", but a wrong token is rejected', async () => {
  const gateway = await openGateway({ require_token: false });
  await gateway.json(null, 'POST', '/gw/turn', { text: 'hello', message_id: 'm1' });
  expect(gateway.core().turns[0]?.envelope.sender).toEqual({ raw_id: 'local', raw_username: 'local' });
  expect((await gateway.json('svcd_wrong', 'GET', '/gw/history')).status).toBe(401);
});
