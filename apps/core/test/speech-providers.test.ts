import { describe, expect, onTestFinished, test } from 'vitest';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { PricingReport } from '@svc/contract/cost.ts';
import type { SpeechReport, Transcription } from '@svc/contract/speech.ts';
import { elevenlabsVoice } from '@svc/testing/speech-server/elevenlabs-speech.ts';
import { startSpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { clip, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const { elevenlabs, open, openai, speak, transcribe, usage } = bench;

describe.each([
  ['openai', openai, { tts: 'tts-1', stt: 'whisper-1', language: 'english' }],
  ['elevenlabs', elevenlabs, { tts: 'eleven_flash_v2_5', stt: 'scribe_v2', language: 'eng' }],
] as const)('speech with %s', (provider, env, { tts, stt, language }) => {
  test('is synthesized and transcribed back to the same text', async () => {
    await open(env());
    const audio = await speak({ text: 'Good morning, Ännchen.', format: 'opus' });
    expect(audio.statusCode, audio.body).toBe(200);
    expect(audio.headers).toMatchObject({ 'content-type': 'audio/opus', 'x-content-type-options': 'nosniff' });
    const heard = await transcribe(audio.rawPayload, '', 'audio/opus');
    const seconds = Math.ceil((audio.rawPayload.length * 8) / 3200) / 10;
    const expected: Transcription = { ok: true, text: 'Good morning, Ännchen.', language, seconds, provider, model: stt };
    expect(heard.json()).toEqual(expected);
  });

  test('reports each call with its unit, quantity and price', async () => {
    await open(env());
    await speak({ text: 'four' });
    await transcribe(Buffer.alloc(40_000), '?mime=audio/ogg');
    const side = (feature: string, model: string, units: string, quantity: number) => ({
      billed: true,
      payload: { feature, provider, model, units, quantity, priced: true },
    });
    expect(usage()).toMatchObject([side('tts', tts, 'characters', 4), side('stt', stt, 'seconds', 10)]);
    const perThousand = provider === 'openai' ? 0.015 : 0.05;
    const perMinute = provider === 'openai' ? 0.006 : 0.00367;
    expect(usage().map(({ cost_usd }) => cost_usd)).toEqual([
      expect.closeTo((4 / 1000) * perThousand, 8),
      expect.closeTo((10 / 60) * perMinute, 8),
    ]);
    expect(usage().map(({ billed_cost_usd }) => billed_cost_usd)).toEqual(usage().map(({ cost_usd }) => cost_usd));
  });

  test('passes on voice, model, format and language', async () => {
    await open(env());
    const voice = provider === 'openai' ? 'nova' : elevenlabsVoice;
    const model = provider === 'openai' ? 'tts-1-hd' : 'eleven_v3';
    const audio = await speak({ text: 'hello', voice, model, format: 'pcm' });
    expect(audio.headers['content-type']).toBe('audio/pcm');
    await transcribe(clip, '?language=de');
    const [spoken, heard] = bench.server.requests;
    expect(JSON.stringify([spoken?.path, spoken?.fields])).toContain(voice);
    expect(Object.values(spoken?.fields ?? {})).toContain(model);
    expect(Object.values(heard?.fields ?? {})).toContain('de');
    expect(heard?.file).toMatchObject({ name: 'clip.ogg', mime: 'audio/ogg', bytes: clip });
  });
});

describe('report of speech providers', () => {
  const report = async () => (await bench.core.app.inject('/v2/speech')).json<SpeechReport>();

  test('names the chosen provider, and what the others lack, without calling any', async () => {
    await open(openai());
    const { tts, stt } = await report();
    expect(tts).toMatchObject([
      { provider: 'espeak', chosen: false },
      { provider: 'openai', chosen: true, ready: true, model: 'tts-1', is_paid: true, reason: null },
      { provider: 'elevenlabs', chosen: false, ready: false, reason: expect.stringMatching(/ELEVENLABS_API_KEY/) as string },
    ]);
    expect(stt.map(({ provider, chosen }) => [provider, chosen])).toEqual([
      ['openai', true],
      ['elevenlabs', false],
    ]);
    expect(bench.server.requests).toEqual([]);
  });

  test('marks a chosen provider without a key as not ready', async () => {
    await open({ SVC_STT_PROVIDER: 'elevenlabs' });
    expect((await report()).stt[1]).toMatchObject({ chosen: true, ready: false, model: null });
  });
});

describe('without a speech provider', () => {
  test('speech and transcription are unavailable, and the answer names the settings', async () => {
    await open({});
    for (const answer of [await speak({ text: 'hello' }), await transcribe(clip)]) {
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({ error: 'unavailable', reason: 'no_provider' });
      expect(answer.json<ErrorBody>().message).toMatch(/SVC_(TTS|STT)_BASE_URL/);
    }
  });
});

describe('cost of speech', () => {
  test('is zero at a server that needs no key', async () => {
    const own = await startSpeechServer();
    onTestFinished(() => own.close());
    await open({ SVC_TTS_BASE_URL: `${own.url}/v1`, SVC_SPEND_HARD_USD: '0.000001' });
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    expect(own.requests[0]?.key).toBeNull();
    const cost = { cost_usd: 0, billed_cost_usd: 0, billed: false };
    expect(usage()).toMatchObject([cost, cost]);
  });

  test('is limited by the hard spending limit, which refuses further calls', async () => {
    await open({ ...openai(), SVC_SPEND_HARD_USD: '0.00001' });
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    for (const answer of [await speak({ text: 'hello' }), await transcribe(clip)]) {
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toMatchObject({ error: 'forbidden', reason: 'spending_limit' });
    }
    expect(bench.server.requests).toHaveLength(1);
    expect((await bench.core.app.inject('/v2/spend')).json()).toMatchObject({ total: { cost_usd: 0.000075 } });
  });

  test('is unknown for a model without a price, which is reported', async () => {
    await open({ ...openai(), SVC_STT_MODEL: 'our-own' });
    bench.server.next({ status: 200, json: { text: 'hm' } });
    expect((await transcribe(clip)).json()).toMatchObject({ model: 'our-own', text: 'hm', language: null });
    expect(usage()).toMatchObject([{ cost_usd: null, billed_cost_usd: null, payload: { priced: false } }]);
    const { unpriced } = (await bench.core.app.inject('/v2/pricing')).json<PricingReport>();
    expect(unpriced).toEqual([{ engine_id: 'openai', model: 'our-own', runs: 1 }]);
  });
});
