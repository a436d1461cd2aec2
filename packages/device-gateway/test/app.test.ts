import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

test('serves the app with a policy that requires trusted types', async () => {
  const gateway = await openGateway();
  writeFileSync(path.join(gateway.folder, 'index.html'), '<!doctype html>');
  await gateway.restart();
  const page = await gateway.ask(null, 'GET', '/');
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("require-trusted-types-for 'script'"),
  ]);
  expect((await gateway.ask(null, 'GET', '/conversation')).status).toBe(404);
});

test("describes the operator's files by their digest and serves them, also after a replacement", async () => {
  const gateway = await openGateway({ wake_model: 'wake.onnx', app_package: 'app.apk', wake_phrases: ['hey'] });
  const { token } = await gateway.device('Phone');
  const get = (where: string) => gateway.json(token, 'GET', where);
  expect([(await get('/gw/wake')).status, (await get('/gw/app')).status]).toEqual([404, 404]);
  expect((await get('/gw/theme')).body['wake']).toEqual({ enabled: false, url: null, phrases: [] });
  writeFileSync(path.join(gateway.folder, 'wake.onnx'), 'a model');
  for (const content of ['an app', 'another app', '']) {
    writeFileSync(path.join(gateway.folder, 'app.apk'), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const facts = { sha256, bytes: content.length };
    expect((await get('/gw/app')).body).toEqual({ ok: true, version: sha256.slice(0, 12), url: '/gw/download', ...facts });
    const loaded = await gateway.ask(token, 'GET', '/gw/download');
    expect([await loaded.text(), loaded.headers.get('etag')]).toEqual([content, `"${sha256}"`]);
    const again = await gateway.ask(token, 'GET', '/gw/download', undefined, { 'if-none-match': `"${sha256}"` });
    expect(again.status).toBe(304);
  }
  expect((await get('/gw/wake')).body).toMatchObject({ url: '/gw/wake/file', bytes: 7 });
  expect((await get('/gw/theme')).body['wake']).toEqual({ enabled: true, url: '/gw/wake/file', phrases: ['hey'] });
  const bare = await openGateway();
  expect((await bare.ask(null, 'GET', '/gw/app')).status).toBe(401);
  const { status, body } = await bare.json((await bare.device('Phone')).token, 'GET', '/gw/wake');
  expect([status, body['message']]).toEqual([404, 'The operator offers no wake word model.']);
});

test('answers 404 with a message when the operator offers no file', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const messages = ['/gw/wake', '/gw/app'].map(async (where) => (await gateway.json(token, 'GET', where)).body['message']);
  expect(await Promise.all(messages)).toEqual(['The operator offers no wake word model.', 'The operator offers no app package.']);
});
