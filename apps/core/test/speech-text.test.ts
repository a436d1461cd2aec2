import { describe, expect, test } from 'vitest';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { heardIn } from '@svc/testing/speech-server/fake-audio.ts';
import { key, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const { open, openai, speak, usage } = bench;
const listen = () => bench.core.app.listen({ port: 0, host: '127.0.0.1' });

describe('speech', () => {
  test('masks secrets in the text before it is sent to the provider', async () => {
    await open();
    const audio = await speak({ text: `the key is ${key}, and ghp_q7Xk2mVb9TzR4wYc6NfH1jLs8PdG3uAe5oKt` });
    expect(audio.statusCode).toBe(200);
    const said = heardIn(audio.rawPayload);
    expect(said).toMatch(/^the key is \[redacted:[\w-]+\], and \[redacted:[\w-]+\]$/);
    expect(usage()[0]?.payload['quantity']).toBe(said.length);
  });

  test('streams audio before the provider has finished', async () => {
    await open();
    bench.server.middle = createGate();
    const gate = bench.server.middle as ReturnType<typeof createGate>;
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

  test('that breaks off midway breaks the response off', async () => {
    await open();
    bench.server.isCutting = true;
    const answer = await fetch(`${await listen()}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"long"}',
    });
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  test('is cancelled at the provider when the caller disconnects', async () => {
    await open();
    bench.server.gate = createGate();
    const leaver = new AbortController();
    const asked = fetch(`${await listen()}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"long"}',
      signal: leaver.signal,
    }).catch(() => undefined);
    await expect.poll(() => bench.server.requests.length).toBe(1);
    leaver.abort();
    await asked;
    await expect.poll(() => bench.server.open).toBe(0);
    expect(usage()).toEqual([]);
  });

  test.each([
    [{ text: ' ' }, 400],
    [{}, 400],
    [{ text: 'x', format: 'midi' }, 400],
    [{ text: 'x', voice: '../../user' }, 400],
    [{ text: 'x', model: '-rf' }, 400],
  ])('is refused for %j', async (body, status) => {
    await open();
    expect((await speak(body)).statusCode).toBe(status);
    expect(bench.server.requests).toEqual([]);
  });

  test('is limited by SVC_TTS_MAX_CHARACTERS', async () => {
    await open({ ...openai(), SVC_TTS_MAX_CHARACTERS: '5' });
    expect((await speak({ text: 'äöü😀!' })).statusCode).toBe(200);
    const answer = await speak({ text: 'äöü😀!?' });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ error: 'too_large', limit: 5, variable: 'SVC_TTS_MAX_CHARACTERS' });
  });

  test('is limited to four requests at once and sixteen waiting', async () => {
    await open();
    const gate = createGate();
    bench.server.gate = gate;
    const asked = Array.from({ length: 20 }, (_, n) => speak({ text: `text ${n}` }));
    await expect.poll(() => bench.server.requests.length).toBe(4);
    const refused = await speak({ text: 'one more' });
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('5');
    expect(bench.server.open).toBe(4);
    gate.open();
    expect((await Promise.all(asked)).map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});
