import { channel, type Channel } from 'node:diagnostics_channel';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { elevenlabsError } from '@svc/testing/speech-server/elevenlabs-speech.ts';
import { openaiError } from '@svc/testing/speech-server/openai-speech.ts';
import { clip, key, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const { elevenlabs, open, openai, speak, transcribe, usage } = bench;

/** Resolves with the next message of a diagnostics channel. */
const once = (told: Channel) =>
  new Promise<void>((resolve) => {
    const hear = () => {
      told.unsubscribe(hear);
      resolve();
    };
    told.subscribe(hear);
  });

describe('speech failures', () => {
  const wrongKey = { SPEECH_KEY: 'sk-wrong-0123456789' };
  const noKey = () => ({ ...openai(), SVC_TTS_KEY_SECRET: '' });
  const cases: [string, () => Record<string, string>, object, number, string, RegExp][] = [
    ['no key', noKey, {}, 503, 'no_key', /needs a key.*SVC_TTS_KEY_SECRET/],
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
      () => ({ ...openai(), SVC_TTS_BASE_URL: `${bench.server.url}/api` }),
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

  test.each(cases)('distinguish %s', async (_what, env, more, status, reason, words) => {
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
  ])('distinguish %s (%i)', async (reason, status, given) => {
    await open();
    bench.server.next(given);
    const answer = await speak({ text: 'hello' });
    expect(answer.statusCode, answer.body).toBe(status);
    expect(answer.json()).toMatchObject({ reason });
    expect(answer.body).not.toContain(key);
    expect(bench.server.requests).toHaveLength(1);
    expect(usage()).toEqual([]);
  });

  test('include a timeout for an endpoint that never answers', async () => {
    await open({ ...openai(), SVC_STT_TIMEOUT_MS: '100' });
    bench.server.gate = createGate();
    const answer = await transcribe(clip);
    expect(answer.statusCode).toBe(504);
    expect(answer.json()).toMatchObject({ reason: 'timeout' });
    expect(bench.server.requests).toHaveLength(1);
  });

  test('are retried once when the request did not reach a server', async () => {
    const startAgain = await bench.stopServer();
    await open();
    const failed = once(channel('http.client.request.error'));
    const asked = speak({ text: 'hello' });
    await failed;
    await startAgain();
    const answer = await asked;
    expect(answer.statusCode, answer.body).toBe(200);
    expect(bench.server.requests).toHaveLength(1);
  });

  test('are not retried when the request may have reached a server', async () => {
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
