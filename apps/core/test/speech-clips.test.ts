import { describe, expect, test } from 'vitest';
import { clip, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const { open, openai, transcribe } = bench;

describe('an audio clip', () => {
  const json = (body: object, query = '') =>
    bench.core.app.inject({ method: 'POST', url: `/v2/transcribe${query}`, payload: body });
  const data_base64 = clip.toString('base64');

  test('can be sent as JSON', async () => {
    await open();
    const answer = await json({ data_base64, mime: 'audio/webm', language: 'fr', model: 'gpt-4o-transcribe' });
    expect(answer.json()).toMatchObject({ text: 'what was said', language: 'fr', model: 'gpt-4o-transcribe' });
    expect(bench.server.requests[0]).toMatchObject({
      fields: { response_format: 'json' },
      file: { name: 'clip.webm', bytes: clip },
    });
  });

  test('has its type detected from its first bytes when none is given', async () => {
    await open();
    expect((await json({ data_base64 })).statusCode).toBe(200);
    expect((await transcribe(clip, '', 'application/octet-stream')).statusCode).toBe(200);
    expect(bench.server.requests.map(({ file }) => file?.name)).toEqual(['clip.ogg', 'clip.ogg']);
  });

  test('is the body when the query names its type, even if it looks like JSON', async () => {
    await open();
    const answer = await transcribe(Buffer.from('{"a":1}'), '?mime=audio/mpeg', 'application/json');
    expect(answer.statusCode).toBe(200);
    expect(bench.server.requests[0]?.file).toMatchObject({ name: 'clip.mp3', bytes: Buffer.from('{"a":1}') });
  });

  test.each([
    ['text/html', '', 415],
    ['audio/ogg', '?mime=audio/ogg%0d%0aX-Evil:%201', 200],
    ['audio/ogg', '?mime=text/html', 415],
    ['audio/x-midi', '', 415],
    ['audio/ogg', '?language=%22%0d%0a', 400],
    ['audio/ogg', '?model=..%2f..%2fadmin%0d', 400],
    ['audio/ogg', '?mime=a&mime=b', 400],
  ])('of the hostile type %s%s is answered with %i', async (type, query, status) => {
    await open();
    const answer = await transcribe(clip, query, type);
    expect(answer.statusCode).toBe(status);
    for (const { file } of bench.server.requests) expect(file?.mime).toBe('audio/ogg');
  });

  test.each([
    [{ data_base64: '§' }, 400],
    [{ data_base64: '' }, 400],
    [{}, 400],
    [{ data_base64, language: 'not a language' }, 400],
    [{ data_base64, mime: 'image/png' }, 415],
  ])('in invalid JSON is rejected', async (body, status) => {
    await open();
    expect((await json(body)).statusCode).toBe(status);
    expect(bench.server.requests).toEqual([]);
  });

  test('is limited by SVC_STT_MAX_SIZE', async () => {
    await open({ ...openai(), SVC_STT_MAX_SIZE: '1kb' });
    for (const answer of [await transcribe(clip), await json({ data_base64 })]) {
      expect(answer.statusCode).toBe(413);
      expect(answer.json()).toMatchObject({ error: 'too_large', variable: 'SVC_STT_MAX_SIZE', limit: 1024 });
    }
    expect(bench.server.requests).toEqual([]);
  });

  test('[H10] of 7,864,000 bytes is accepted as base64 in JSON, but not of 7,900,000', async () => {
    await open();
    const send = (size: number) => json({ mime: 'audio/ogg', data_base64: Buffer.alloc(size, 7).toString('base64') });
    expect((await send(7_864_000)).statusCode).toBe(200);
    expect((await send(7_900_000)).statusCode).toBe(413);
  });

  test('sent as the body is also limited by a smaller SVC_RAW_BODY_LIMIT', async () => {
    await open({ ...openai(), SVC_RAW_BODY_LIMIT: '1kb' });
    const answer = await transcribe(clip);
    expect([answer.statusCode, answer.json()]).toEqual([
      413,
      expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT', limit: 1024 }),
    ]);
    expect((await json({ data_base64 })).statusCode).toBe(200);
  });
});
