import { Readable } from 'node:stream';
import OpenAI, { NotFoundError, toFile, type APIError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { annKey, startCompat, type RunningCompat } from './start-compat.ts';

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());
const client = (apiKey: string = annKey) => new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
const speech = () => compat.context.speech;
const faultOf = async (work: Promise<unknown>) => (await work.catch((error: unknown) => error)) as APIError;
const fails = (code: 'unavailable' | 'forbidden' | 'unprocessable', reason: string) => {
  const fail = () => Promise.reject(new ServiceError(code, 'Words of the core.', { details: { reason } }));
  Object.assign(speech(), { speak: fail, transcribe: fail });
};

describe('POST /v1/audio/speech', () => {
  const say = (more: Partial<OpenAI.Audio.SpeechCreateParams> = {}) =>
    client().audio.speech.create({ model: 'svc', voice: 'default', input: 'good morning', ...more });

  test('speaks as the sender of the key, and passes on the model, voice and format of the request', async () => {
    const answer = await say();
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await answer.json()).toEqual({ sender: 'ann', text: 'good morning' });
    const chosen = await say({ model: 'tts-1-hd', voice: 'alloy', response_format: 'opus', speed: 1 });
    expect(await chosen.json()).toEqual({
      sender: 'ann',
      text: 'good morning',
      voice: 'alloy',
      model: 'tts-1-hd',
      format: 'opus',
    });
  });

  test.each([
    [{ input: '' }, 'input'],
    [{ speed: 2 }, 'speed'],
    [{ instructions: 'Whisper.' }, 'instructions'],
    [{ stream_format: 'sse' as const }, 'stream_format'],
    [{ response_format: 'midi' as never }, 'response_format'],
    [{ voice: '' }, 'voice'],
    [{ model: '' }, 'model'],
  ])('refuses %j', async (more, param) => {
    expect(await faultOf(say(more))).toMatchObject({ status: 400, param });
  });

  test('fails the response when the audio breaks off, and keeps serving', async () => {
    speech().speak = async () => ({
      mime: 'audio/mpeg',
      body: Readable.from(
        (function* () {
          yield Buffer.from('half');
          throw new Error('gone');
        })(),
      ),
    });
    await expect((await say()).arrayBuffer()).rejects.toThrow();
    await expect(client().models.list()).resolves.toBeDefined();
  });

  test('aborts the call when the client disconnects', async () => {
    const gone = Promise.withResolvers<void>();
    const leaver = new AbortController();
    speech().speak = (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => (gone.resolve(), reject(new Error('left'))));
        leaver.abort();
      });
    const asked = client().audio.speech.create({ model: 'svc', voice: 'default', input: 'x' }, { signal: leaver.signal });
    await expect(asked).rejects.toThrow();
    await gone.promise;
  });
});

describe('POST /v1/audio/transcriptions', () => {
  const clip = () => toFile(Buffer.from('what was said'), 'clip.wav', { type: 'audio/wav' });
  const hear = async (more: object = {}) => client().audio.transcriptions.create({ model: 'svc', file: await clip(), ...more });

  test('gives the text as JSON, plain text and a stream', async () => {
    expect(await hear()).toMatchObject({ text: 'what was said', usage: { type: 'duration', seconds: 1 } });
    expect(await hear({ response_format: 'text' })).toBe('what was said\n');
    const events = [];
    for await (const event of (await hear({ stream: true })) as unknown as AsyncIterable<{ type: string }>)
      events.push(event.type);
    expect(events).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });

  test.each([
    [{ response_format: 'verbose_json', timestamp_granularities: ['word'] }, 'timestamp_granularities[]'],
    [{ response_format: 'srt' }, 'response_format'],
    [{ include: ['logprobs'] }, 'include[]'],
  ])('refuses %j', async (more, param) => {
    expect(await faultOf(hear(more))).toMatchObject({ status: 400, param, code: 'unsupported_parameter' });
  });

  const post = (body: string | Buffer, type: string) =>
    fetch(`${compat.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${annKey}`, 'content-type': type },
      body,
    });
  test('refuses a clip as long as those that are being transcribed fill the memory', async () => {
    const heard = Promise.withResolvers<void>();
    const hears: string[] = [];
    const { transcribe } = speech();
    speech().transcribe = async (clip, signal) => {
      hears.push(clip.sender);
      await heard.promise;
      return transcribe({ ...clip, data: Buffer.from('long') }, signal);
    };
    const form = [
      '--a\r\nContent-Disposition: form-data; name="model"\r\n\r\nsvc\r\n',
      '--a\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n',
      Buffer.alloc(25 * 1024 * 1024),
      '\r\n--a--\r\n',
    ];
    const body = Buffer.concat(form.map((part) => Buffer.from(part as string)));
    const hearLong = async () => (await post(body, 'multipart/form-data; boundary=a')).status;
    const both = [hearLong(), hearLong()];
    await expect.poll(() => hears.length).toBe(2);
    expect(await hearLong()).toBe(429);
    heard.resolve();
    expect(await Promise.all(both)).toEqual([200, 200]);
    expect(await hearLong()).toBe(200);
  });

  test.each([
    ['{}', 'application/json', 415],
    ['x', 'multipart/form-data', 415],
    ['x', 'multipart/form-data; boundary=a', 400],
    ['--a\r\n', 'multipart/form-data; boundary=a', 400],
    ['--a\r\nContent-Disposition: form-data; name="model"\r\n\r\nsvc\r\n--a--\r\n', 'multipart/form-data; boundary=a', 400],
    ['--a\r\nContent-Disposition: form-data; name="file"\r\n\r\nno file\r\n--a--\r\n', 'multipart/form-data; boundary=a', 400],
    ['--a\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n'.repeat(50_000), 'multipart/form-data; boundary=a', 400],
    [
      `--a\r\nContent-Disposition: form-data; name="${'f'.repeat(1_000_000)}"\r\n\r\nx\r\n--a--\r\n`,
      'multipart/form-data; boundary=a',
      400,
    ],
    ['-'.repeat(100_000), `multipart/form-data; boundary=${'-'.repeat(70)}`, 400],
  ])('rejects an invalid form (%#)', async (body, type, status) => {
    expect((await post(body, type)).status).toBe(status);
  });

  test('rejects a clip over the size limit', async () => {
    const answer = await post(Buffer.alloc(27 * 1024 * 1024), 'multipart/form-data; boundary=a').catch(() => null);
    if (answer !== null) expect(answer.status).toBe(413);
    await expect(hear()).resolves.toMatchObject({ text: 'what was said' });
  });
});

describe('errors of the core', () => {
  const say = () => client().audio.speech.create({ model: 'svc', voice: 'x', input: 'x' });

  test.each([
    ['forbidden', 'spending_limit', { status: 429, code: 'insufficient_quota' }],
    ['unprocessable', 'bad_voice', { status: 400, param: 'voice' }],
    ['unprocessable', 'bad_model', { status: 400, param: 'model', code: 'model_not_found' }],
    ['unprocessable', 'bad_format', { status: 400, param: 'response_format' }],
    ['unavailable', 'no_provider', { status: 503, code: 'no_provider' }],
  ] as const)('maps %s (%s) to an error of the API', async (code, reason, expected) => {
    fails(code, reason);
    const fault = await faultOf(say());
    expect(fault).toMatchObject(expected);
    expect(fault.message).toContain('Words of the core.');
  });

  test('answers 403 to a sender without access', async () => {
    Object.assign(speech(), { speak: () => Promise.reject(new ServiceError('no_access', 'no access')) });
    expect(await faultOf(say())).toMatchObject({ status: 403, code: 'no_access' });
  });
});

test.each(['/v1/embeddings', '/v1/completions', '/v1/audio/translations', '/v1/images/generations'])(
  '%s is rejected as an unsupported endpoint',
  async (path) => {
    const error = await faultOf(client().post(path.slice(3), { body: {} }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'unsupported_endpoint' });
    expect((await fetch(`${compat.url}${path}`, { method: 'POST' })).status).toBe(401);
  },
);

test('the official client gets an explanation for embeddings', async () => {
  const error = await faultOf(client().embeddings.create({ model: 'svc', input: 'x' }));
  expect(error).toMatchObject({ status: 404, message: expect.stringContaining('Embeddings are not supported') as string });
});
