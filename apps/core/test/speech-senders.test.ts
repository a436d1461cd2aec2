import { describe, expect, test } from 'vitest';
import { clip, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const passOf = (type: string) => bench.core.context.connectorPasses.issue({ type, instanceId: 'i1' }).reveal();
const bearer = (type = 'compat') => ({ authorization: `Bearer ${passOf(type)}` });
const speak = (query: string, headers: Record<string, string> = {}) =>
  bench.core.app.inject({ method: 'POST', url: `/v2/tts${query}`, payload: { text: 'good morning' }, headers });
const transcribe = (query: string, headers: Record<string, string> = {}) =>
  bench.core.app.inject({
    method: 'POST',
    url: `/v2/transcribe${query}`,
    payload: clip,
    headers: { 'content-type': 'audio/ogg', ...headers },
  });
const priced = () => ({ ...bench.openai(), SVC_TTS_MODEL: 'tts-1', SVC_STT_MODEL: 'whisper-1' });
const report = async () => (await bench.core.app.inject('/v2/spend')).json<{ principals: object[]; budgets: object[] }>();

describe('speech requested by a connector', () => {
  test('is counted for its sender', async () => {
    await bench.open(priced());
    await bench.core.addPrincipal('anna', 'known');
    expect((await speak('?sender=anna', bearer())).statusCode).toBe(200);
    expect((await transcribe('?sender=anna', bearer())).json()).toMatchObject({ ok: true, text: 'what was said' });
    expect((await report()).principals).toMatchObject([{ key: 'anna', turns: 2 }]);
    expect(bench.usage()).toMatchObject([
      { surface: 'compat', identity: 'anna', principal: 'anna' },
      { surface: 'compat', identity: 'anna', principal: 'anna' },
    ]);
  });

  test('is refused for a denied sender and for one of another channel', async () => {
    await bench.open();
    for (const ask of [speak, transcribe]) {
      expect((await ask('?sender=stranger', bearer())).json()).toMatchObject({ error: 'no_access' });
      expect((await ask('?sender=owner', bearer('messenger'))).json()).toMatchObject({ error: 'no_access' });
    }
    expect(bench.server.requests).toHaveLength(0);
  });

  test('requires a sender, and naming a sender requires a pass', async () => {
    await bench.open();
    for (const ask of [speak, transcribe]) {
      expect((await ask('', bearer())).statusCode).toBe(400);
      expect((await ask('?sender=owner')).statusCode).toBe(400);
      expect((await ask('?sender=owner', { authorization: 'Bearer forged' })).statusCode).toBe(400);
    }
    expect(bench.server.requests).toHaveLength(0);
  });

  test('is refused over the budget of its sender only', async () => {
    await bench.open(priced());
    await bench.core.addPrincipal('anna', 'known');
    await bench.core.app.inject({
      method: 'PUT',
      url: '/v2/spend/budget',
      payload: { surface: 'compat', value: 'anna', month_usd: 0.0001 },
    });
    expect((await speak('?sender=anna', bearer())).statusCode).toBe(200);
    for (const ask of [speak, transcribe])
      expect((await ask('?sender=anna', bearer())).json()).toMatchObject({ error: 'forbidden', reason: 'spending_limit' });
    expect((await speak('?sender=owner', bearer())).statusCode).toBe(200);
    expect((await speak('')).statusCode).toBe(200);
  });
});

test('a connector needs only its pass when the core has a token', async () => {
  await bench.open({ ...bench.openai(), SVC_CORE_TOKEN: 'a-token-of-the-core-0123456789' });
  expect((await speak('?sender=owner', bearer())).statusCode).toBe(200);
  expect((await transcribe('?sender=owner', bearer())).statusCode).toBe(200);
  expect((await speak('')).statusCode).toBe(401);
});
