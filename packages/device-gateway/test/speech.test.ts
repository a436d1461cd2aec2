import { ServiceError, type Envelope } from '@svc/connector-kit';
import { createFakeCore } from '@svc/connector-kit/testing/fake-core.ts';
import { expect, test } from 'vitest';
import { openGateway } from './open-gateway.ts';

test('speech uses the identity and the settings of the device', async () => {
  const gateway = await openGateway();
  const [ann, bob] = [await gateway.device('Ann'), await gateway.device('Bob')];
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { language: 'de', read_aloud: true })).status).toBe(200);
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { language: 7 })).status).toBe(400);
  expect((await gateway.json(ann.token, 'POST', '/gw/voice-config', { key: 'secret' })).status).toBe(400);
  await gateway.restart();
  expect((await gateway.json(ann.token, 'GET', '/gw/voice-config')).body).toEqual({
    ok: true,
    config: { language: 'de', read_aloud: true },
  });
  expect((await gateway.json(bob.token, 'GET', '/gw/voice-config')).body).toEqual({ ok: true, config: {} });
  const heard = await gateway.json(ann.token, 'POST', '/gw/transcribe', new TextEncoder().encode('a clip'), {
    'content-type': 'audio/webm',
  });
  expect([heard.status, heard.body]).toEqual([200, expect.objectContaining({ ok: true, language: 'de' })]);
  const spoken = await gateway.json(ann.token, 'POST', '/gw/tts', { text: 'good morning' });
  expect(spoken.body).toEqual({ sender: ann.device.id, text: 'good morning' });
});

test('rejects clips and texts that are empty, too long or refused by the provider', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const clip = (bytes: number, type = 'audio/webm') =>
    gateway.json(token, 'POST', '/gw/transcribe', new Uint8Array(bytes), { 'content-type': type });
  expect((await clip(0)).status).toBe(400);
  expect((await clip(26 * 1024 * 1024)).status).toBe(413);
  gateway.fake().context.speech.transcribe = async () => {
    throw new ServiceError('unprocessable', 'The provider does not take this clip.');
  };
  for (const type of ['text/html', 'audio/../../x', 'application/json']) {
    const { status, body } = await clip(10, type);
    expect([status, body['message']]).toEqual([422, 'The provider does not take this clip.']);
  }
  expect((await gateway.json(token, 'POST', '/gw/tts', { text: 'x'.repeat(10_001) })).status).toBe(400);
  expect((await gateway.json(token, 'POST', '/gw/tts', { text: '' })).status).toBe(400);
});

test('holds only so many recordings at once, and none of a person without access', async () => {
  const gateway = await openGateway();
  const { token } = await gateway.device('Phone');
  const { context } = gateway.fake();
  const heard = Promise.withResolvers<void>();
  let waiting = 0;
  const { transcribe } = context.speech;
  context.speech.transcribe = async (asked, signal) => {
    waiting++;
    await heard.promise;
    return transcribe({ ...asked, data: Buffer.from('hello') }, signal);
  };
  const clip = () =>
    gateway.json(token, 'POST', '/gw/transcribe', new Uint8Array(20 * 1024 * 1024), { 'content-type': 'audio/webm' });
  const first = [clip(), clip()];
  await expect.poll(() => waiting).toBe(2);
  const third = await Promise.race([clip(), heard.promise]);
  expect(third).toMatchObject({ status: 429, body: { error: 'queue_full' } });
  heard.resolve();
  for (const { status } of await Promise.all(first)) expect(status).toBe(200);
  expect((await clip()).status).toBe(200);
  gateway.core().resolve = async () => ({ ...(await createFakeCore().resolve({} as Envelope)), denied: true });
  expect(await clip()).toMatchObject({ status: 403, body: { error: 'no_access' } });
  expect(waiting).toBe(3);
});
