import { channel, type Channel } from 'node:diagnostics_channel';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { PricingReport } from '@svc/contract/pricing.ts';
import type { RecordingResult, Transcription } from '@svc/contract/speech.ts';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { elevenlabsError, elevenlabsVoice } from '@svc/testing/speech-server/elevenlabs-speech.ts';
import { fakeAudio, heardIn } from '@svc/testing/speech-server/fake-audio.ts';
import { openaiError } from '@svc/testing/speech-server/openai-speech.ts';
import { startSpeechServer, type SpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const key = 'sk-speech-0123456789abcdef';
const clip = fakeAudio('opus', 'what was said');

let core: TestCore;
let server: SpeechServer;
beforeEach(async () => {
  server = await startSpeechServer({ key });
  onTestFinished(() => server.close());
});
afterEach(() => core.close());

const openai = () => ({
  SVC_TTS_BASE_URL: `${server.url}/v1`,
  SVC_TTS_KEY_SECRET: 'SPEECH_KEY',
  SVC_STT_BASE_URL: `${server.url}/v1`,
  SVC_STT_KEY_SECRET: 'SPEECH_KEY',
  SPEECH_KEY: key,
});
const elevenlabs = () => ({
  ...openai(),
  SVC_TTS_PROVIDER: 'elevenlabs',
  SVC_TTS_BASE_URL: server.url,
  SVC_STT_PROVIDER: 'elevenlabs',
  SVC_STT_BASE_URL: server.url,
});
const open = async (env: Record<string, string> = openai()) => (core = await openTestCore({ env }));
const speak = (body: object) => core.app.inject({ method: 'POST', url: '/v2/tts', payload: body });
const transcribe = (payload: Buffer, query = '', type = 'audio/ogg') =>
  core.app.inject({ method: 'POST', url: `/v2/transcribe${query}`, payload, headers: { 'content-type': type } });
const record = (payload: Buffer, query = '', type = 'audio/ogg') =>
  core.app.inject({ method: 'POST', url: `/v2/recordings${query}`, payload, headers: { 'content-type': type } });
const usage = () => core.telemetry.events.filter(({ kind }) => kind === 'token-usage');
/** Settles with the next message of a channel. */
const once = (told: Channel) =>
  new Promise<void>((resolve) => {
    const hear = () => {
      told.unsubscribe(hear);
      resolve();
    };
    told.subscribe(hear);
  });
const listen = async () => core.app.listen({ port: 0, host: '127.0.0.1' });

describe.each([
  ['openai', openai, { tts: 'tts-1', stt: 'whisper-1', language: 'english' }],
  ['elevenlabs', elevenlabs, { tts: 'eleven_flash_v2_5', stt: 'scribe_v2', language: 'eng' }],
] as const)('with %s', (provider, env, { tts, stt, language }) => {
  test('what is spoken is heard again', async () => {
    await open(env());
    const audio = await speak({ text: 'Good morning, Ännchen.', format: 'opus' });
    expect(audio.statusCode, audio.body).toBe(200);
    expect(audio.headers).toMatchObject({ 'content-type': 'audio/opus', 'x-content-type-options': 'nosniff' });
    const heard = await transcribe(audio.rawPayload, '', 'audio/opus');
    const seconds = Math.ceil((audio.rawPayload.length * 8) / 3200) / 10;
    const expected: Transcription = { ok: true, text: 'Good morning, Ännchen.', language, seconds, provider, model: stt };
    expect(heard.json()).toEqual(expected);
  });

  test('each call is a side call with its unit, its quantity and its price', async () => {
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

  test('voice, model, format and language go along', async () => {
    await open(env());
    const voice = provider === 'openai' ? 'nova' : elevenlabsVoice;
    const model = provider === 'openai' ? 'tts-1-hd' : 'eleven_v3';
    const audio = await speak({ text: 'hello', voice, model, format: 'pcm' });
    expect(audio.headers['content-type']).toBe('audio/pcm');
    await transcribe(clip, '?language=de');
    const [spoken, heard] = server.requests;
    expect(JSON.stringify([spoken?.path, spoken?.fields])).toContain(voice);
    expect(Object.values(spoken?.fields ?? {})).toContain(model);
    expect(Object.values(heard?.fields ?? {})).toContain('de');
    expect(heard?.file).toMatchObject({ name: 'clip.ogg', mime: 'audio/ogg', bytes: clip });
  });
});

describe('speech', () => {
  test('leaves without any secret in it', async () => {
    await open();
    const audio = await speak({ text: `the key is ${key}, and ghp_q7Xk2mVb9TzR4wYc6NfH1jLs8PdG3uAe5oKt` });
    expect(audio.statusCode).toBe(200);
    const said = heardIn(audio.rawPayload);
    expect(said).toMatch(/^the key is \[redacted:[\w-]+\], and \[redacted:[\w-]+\]$/);
    expect(usage()[0]?.payload['quantity']).toBe(said.length);
  });

  test('begins before the provider has ended', async () => {
    await open();
    server.middle = createGate();
    const gate = server.middle as ReturnType<typeof createGate>;
    const answer = await fetch(`${await listen()}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"long"}',
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    gate.open();
    let rest = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value.length;
    expect(rest).toBeGreaterThan(0);
  });

  test('that breaks off does not pass for whole', async () => {
    await open();
    server.isCutting = true;
    const answer = await fetch(`${await listen()}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"long"}',
    });
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  test('that nobody waits for any more is given up at the provider', async () => {
    await open();
    server.gate = createGate();
    const leaver = new AbortController();
    const asked = fetch(`${await listen()}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"long"}',
      signal: leaver.signal,
    }).catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(1);
    leaver.abort();
    await asked;
    await expect.poll(() => server.open).toBe(0);
    expect(usage()).toEqual([]);
  });

  test.each([
    [{ text: ' ' }, 400],
    [{}, 400],
    [{ text: 'x', format: 'midi' }, 400],
    [{ text: 'x', voice: '../../user' }, 400],
    [{ text: 'x', model: '-rf' }, 400],
  ])('is not made of %j', async (body, status) => {
    await open();
    expect((await speak(body)).statusCode).toBe(status);
    expect(server.requests).toEqual([]);
  });

  test('is no longer than SVC_TTS_MAX_CHARACTERS', async () => {
    await open({ ...openai(), SVC_TTS_MAX_CHARACTERS: '5' });
    expect((await speak({ text: 'äöü😀!' })).statusCode).toBe(200);
    const answer = await speak({ text: 'äöü😀!?' });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ error: 'too_large', limit: 5, variable: 'SVC_TTS_MAX_CHARACTERS' });
  });

  test('four are made at once, sixteen wait, and no more', async () => {
    await open();
    const gate = createGate();
    server.gate = gate;
    const asked = Array.from({ length: 20 }, (_, n) => speak({ text: `text ${n}` }));
    await expect.poll(() => server.requests.length).toBe(4);
    const refused = await speak({ text: 'one more' });
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('5');
    expect(server.open).toBe(4);
    gate.open();
    expect((await Promise.all(asked)).map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});

describe('a clip', () => {
  const json = (body: object, query = '') => core.app.inject({ method: 'POST', url: `/v2/transcribe${query}`, payload: body });
  const data_base64 = clip.toString('base64');

  test('may come as JSON', async () => {
    await open();
    const answer = await json({ data_base64, mime: 'audio/webm', language: 'fr', model: 'gpt-4o-transcribe' });
    expect(answer.json()).toMatchObject({ text: 'what was said', language: 'fr', model: 'gpt-4o-transcribe' });
    expect(server.requests[0]).toMatchObject({ fields: { response_format: 'json' }, file: { name: 'clip.webm', bytes: clip } });
  });

  test('says by its first bytes what it is, where nobody says it', async () => {
    await open();
    expect((await json({ data_base64 })).statusCode).toBe(200);
    expect((await transcribe(clip, '', 'application/octet-stream')).statusCode).toBe(200);
    expect(server.requests.map(({ file }) => file?.name)).toEqual(['clip.ogg', 'clip.ogg']);
  });

  test('is the body when its type stands in the query, even one that looks like JSON', async () => {
    await open();
    const answer = await transcribe(Buffer.from('{"a":1}'), '?mime=audio/mpeg', 'application/json');
    expect(answer.statusCode).toBe(200);
    expect(server.requests[0]?.file).toMatchObject({ name: 'clip.mp3', bytes: Buffer.from('{"a":1}') });
  });

  test.each([
    ['text/html', '', 415],
    ['audio/ogg', '?mime=audio/ogg%0d%0aX-Evil:%201', 200],
    ['audio/ogg', '?mime=text/html', 415],
    ['audio/x-midi', '', 415],
    ['audio/ogg', '?language=%22%0d%0a', 400],
    ['audio/ogg', '?model=..%2f..%2fadmin%0d', 400],
    ['audio/ogg', '?mime=a&mime=b', 400],
  ])('of the hostile type %s%s is answered with %i at most', async (type, query, status) => {
    await open();
    const answer = await transcribe(clip, query, type);
    expect(answer.statusCode).toBe(status);
    for (const { file } of server.requests) expect(file?.mime).toBe('audio/ogg');
  });

  test.each([
    [{ data_base64: '§' }, 400],
    [{ data_base64: '' }, 400],
    [{}, 400],
    [{ data_base64, language: 'not a language' }, 400],
    [{ data_base64, mime: 'image/png' }, 415],
  ])('as JSON that is wrong is refused', async (body, status) => {
    await open();
    expect((await json(body)).statusCode).toBe(status);
    expect(server.requests).toEqual([]);
  });

  test('is no larger than SVC_STT_MAX_SIZE', async () => {
    await open({ ...openai(), SVC_STT_MAX_SIZE: '1kb' });
    for (const answer of [await transcribe(clip), await json({ data_base64 })]) {
      expect(answer.statusCode).toBe(413);
      expect(answer.json()).toMatchObject({ error: 'too_large', variable: 'SVC_STT_MAX_SIZE', limit: 1024 });
    }
    expect(server.requests).toEqual([]);
  });

  test('[H10] of 7,864,000 bytes comes as base64 in JSON, one of 7,900,000 does not', async () => {
    await open();
    const send = (size: number) => json({ mime: 'audio/ogg', data_base64: Buffer.alloc(size, 7).toString('base64') });
    expect((await send(7_864_000)).statusCode).toBe(200);
    expect((await send(7_900_000)).statusCode).toBe(413);
  });

  test('as the body is no larger than SVC_RAW_BODY_LIMIT either, where that is the smaller one', async () => {
    await open({ ...openai(), SVC_RAW_BODY_LIMIT: '1kb' });
    const answer = await transcribe(clip);
    expect([answer.statusCode, answer.json()]).toEqual([
      413,
      expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT', limit: 1024 }),
    ]);
    expect((await json({ data_base64 })).statusCode).toBe(200);
  });
});

describe('a recording', () => {
  const manifest = (): ManifestEntry[] =>
    readFileSync(path.join(core.folder, 'uploads', 'manifest.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ManifestEntry);

  test('is a file of the upload area, of a kind of its own', async () => {
    await open();
    const answer = await record(clip, '?filename=note.ogg&conversation_key=mobile:1:x');
    expect(answer.statusCode, answer.body).toBe(200);
    const { file, transcription } = answer.json<RecordingResult>();
    expect(file).toMatchObject({ name: 'note.ogg', mime: 'audio/ogg', kind: 'recording', bytes: clip.length });
    expect(readFileSync(file.path)).toEqual(clip);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(transcription).toBeUndefined();
    expect(manifest()).toMatchObject([{ kind: 'recording', conversation_key: 'mobile:1:x' }]);
    expect(server.requests).toEqual([]);
  });

  test('is transcribed when that is asked for, and named by its time when nobody names it', async () => {
    await open();
    const answer = await record(clip, '?transcribe=1&conversation_key=mobile:1:x');
    expect(answer.json()).toMatchObject({
      file: { name: expect.stringMatching(/^recording-\d{4}-\d\d-\d\d-\d{6}\.ogg$/) as string },
      transcription: { ok: true, text: 'what was said' },
    });
    expect(usage()).toMatchObject([{ session: 'mobile:1:x', payload: { feature: 'stt' } }]);
  });

  test.each([
    [{ SPEECH_KEY: 'sk-wrong-0123456789' }, 'upstream'],
    [{ SVC_STT_MAX_SIZE: '1kb' }, 'too_large'],
  ])('is kept when its transcription fails', async (env, error) => {
    await open({ ...openai(), ...env });
    const answer = await record(clip, '?transcribe=1');
    expect(answer.statusCode).toBe(200);
    const { file, transcription } = answer.json<RecordingResult>();
    expect(transcription).toMatchObject({ ok: false, error });
    expect(existsSync(file.path)).toBe(true);
    expect(manifest()).toHaveLength(1);
  });

  test.each([
    ['application/json', '', 415],
    ['text/html', '?filename=a.ogg', 415],
    ['application/x-www-form-urlencoded', '?filename=a.ogg', 200],
    ['audio/ogg', '?transcribe=maybe', 400],
  ])('of type %s%s is answered with %i', async (type, query, status) => {
    await open();
    expect((await record(clip, query, type)).statusCode).toBe(status);
  });

  test('is no larger than SVC_RAW_BODY_LIMIT', async () => {
    await open({ ...openai(), SVC_RAW_BODY_LIMIT: '1kb' });
    const answer = await record(clip);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ variable: 'SVC_RAW_BODY_LIMIT' });
    expect(existsSync(path.join(core.folder, 'uploads', 'manifest.jsonl'))).toBe(false);
  });
});

describe('what a provider refuses is told apart', () => {
  const wrongKey = { SPEECH_KEY: 'sk-wrong-0123456789' };
  const noKey = () => ({ ...openai(), SVC_TTS_KEY_SECRET: '' });
  const cases: [string, () => Record<string, string>, object, number, string, RegExp][] = [
    ['no key', noKey, {}, 503, 'no_key', /wants a key.*SVC_TTS_KEY_SECRET/],
    ['a key that is nowhere', () => ({ ...openai(), SVC_TTS_KEY_SECRET: 'OTHER_KEY' }), {}, 503, 'no_key', /OTHER_KEY/],
    ['a wrong key', () => ({ ...openai(), ...wrongKey }), {}, 502, 'bad_key', /refuses the key/],
    ['a wrong key at ElevenLabs', () => ({ ...elevenlabs(), ...wrongKey }), {}, 502, 'bad_key', /refuses the key/],
    ['a wrong voice', openai, { voice: 'nobody' }, 422, 'bad_voice', /no such voice.*alloy/],
    ['a wrong voice at ElevenLabs', elevenlabs, { voice: 'nobody' }, 422, 'bad_voice', /no such voice/],
    ['a wrong model', openai, { model: 'tts-9' }, 422, 'bad_model', /no such model.*tts-9/],
    ['a wrong model at ElevenLabs', elevenlabs, { model: 'eleven_v99' }, 422, 'bad_model', /no such model/],
    ['a format it does not make', elevenlabs, { format: 'flac' }, 422, 'bad_format', /mp3, opus, pcm, not flac/],
    [
      'a wrong address',
      () => ({ ...openai(), SVC_TTS_BASE_URL: `${server.url}/api` }),
      {},
      502,
      'wrong_address',
      /SVC_TTS_BASE_URL/,
    ],
    [
      'nobody there',
      () => ({ ...openai(), SVC_TTS_BASE_URL: 'http://127.0.0.1:9/v1' }),
      {},
      503,
      'endpoint_down',
      /ECONNREFUSED/,
    ],
  ];

  test.each(cases)('%s', async (_what, env, more, status, reason, words) => {
    await open(env());
    const answer = await speak({ text: 'hello', ...more });
    expect(answer.statusCode, answer.body).toBe(status);
    expect(answer.json()).toMatchObject({ reason });
    expect(answer.json<ErrorBody>().message).toMatch(words);
    expect(answer.body).not.toContain('sk-');
    expect(usage()).toEqual([]);
  });

  test.each([
    ['quota', 502, openaiError(429, 'insufficient_quota', 'You exceeded your current quota.')],
    ['quota', 502, elevenlabsError(401, 'quota_exceeded', 'This request exceeds your quota of 10000.')],
    ['rate_limited', 429, openaiError(429, 'rate_limit_exceeded', 'Rate limit reached.')],
    ['endpoint_down', 503, { status: 500, text: '<html>oops</html>' } as const],
    ['strange_answer', 502, { status: 200, text: '<html>welcome</html>' } as const],
    ['wrong_address', 502, { status: 302, json: {}, headers: { location: 'http://127.0.0.1:9/' } } as const],
    ['too_large', 413, elevenlabsError(400, 'max_character_limit_exceeded', 'This text has 627 characters.')],
    ['refused', 422, { status: 400, json: { detail: 'not today' } } as const],
    ['refused', 422, openaiError(400, null, `The key ${key} was seen in a header.`)],
  ])('%s (%i)', async (reason, status, given) => {
    await open();
    server.next(given);
    const answer = await speak({ text: 'hello' });
    expect(answer.statusCode, answer.body).toBe(status);
    expect(answer.json()).toMatchObject({ reason });
    expect(answer.body).not.toContain(key);
    expect(server.requests).toHaveLength(1);
    expect(usage()).toEqual([]);
  });

  test('an endpoint that says nothing is given up on', async () => {
    await open({ ...openai(), SVC_STT_TIMEOUT_MS: '100' });
    server.gate = createGate();
    const answer = await transcribe(clip);
    expect(answer.statusCode).toBe(504);
    expect(answer.json()).toMatchObject({ reason: 'timeout' });
    expect(server.requests).toHaveLength(1);
  });

  test('what never reached a server is sent once more', async () => {
    const port = Number(new URL(server.url).port);
    await server.close();
    await open();
    const failed = once(channel('http.client.request.error'));
    const asked = speak({ text: 'hello' });
    await failed;
    server = await startSpeechServer({ key, port });
    onTestFinished(() => server.close());
    const answer = await asked;
    expect(answer.statusCode, answer.body).toBe(200);
    expect(server.requests).toHaveLength(1);
  });

  test('what may have reached a server is not sent again', async () => {
    let connections = 0;
    const rude = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined).once('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => void rude.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void rude.close());
    const { port } = rude.address() as AddressInfo;
    await open({ ...openai(), SVC_TTS_BASE_URL: `http://127.0.0.1:${port}/v1` });
    const answer = await speak({ text: 'hello' });
    expect(answer.json()).toMatchObject({ reason: 'endpoint_down' });
    expect(connections).toBe(1);
  });
});

describe('without a provider', () => {
  test('nobody speaks or transcribes, and the answer says what to do', async () => {
    await open({});
    for (const answer of [await speak({ text: 'hello' }), await transcribe(clip)]) {
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({ error: 'unavailable', reason: 'no_provider' });
      expect(answer.json<ErrorBody>().message).toMatch(/SVC_(TTS|STT)_BASE_URL/);
    }
  });
});

describe('what speech costs', () => {
  test('is nothing at a server that wants no key', async () => {
    const own = await startSpeechServer();
    onTestFinished(() => own.close());
    await open({ SVC_TTS_BASE_URL: `${own.url}/v1`, SVC_SPEND_HARD_USD: '0.000001' });
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    expect(own.requests[0]?.key).toBeNull();
    const cost = { cost_usd: 0, billed_cost_usd: 0, billed: false };
    expect(usage()).toMatchObject([cost, cost]);
  });

  test('is refused at a hard limit', async () => {
    await open({ ...openai(), SVC_SPEND_HARD_USD: '0.00001' });
    expect((await speak({ text: 'hello' })).statusCode).toBe(200);
    for (const answer of [await speak({ text: 'hello' }), await transcribe(clip)]) {
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toMatchObject({ error: 'forbidden', reason: 'spending_limit' });
    }
    expect(server.requests).toHaveLength(1);
    expect((await core.app.inject('/v2/spend')).json()).toMatchObject({ total: { cost_usd: 0.000075 } });
  });

  test('is not known for a model without a price, which is told', async () => {
    await open({ ...openai(), SVC_STT_MODEL: 'our-own' });
    server.next({ status: 200, json: { text: 'hm' } });
    expect((await transcribe(clip)).json()).toMatchObject({ model: 'our-own', text: 'hm', language: null });
    expect(usage()).toMatchObject([{ cost_usd: null, billed_cost_usd: null, payload: { priced: false } }]);
    const { unpriced } = (await core.app.inject('/v2/pricing')).json<PricingReport>();
    expect(unpriced).toEqual([{ engine_id: 'openai', model: 'our-own', runs: 1 }]);
  });
});
