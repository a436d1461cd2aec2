import OpenAI, { AuthenticationError, BadRequestError, NotFoundError, RateLimitError, toFile } from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { elevenlabsVoice } from './elevenlabs-speech.ts';
import { fakeAudio } from './fake-audio.ts';
import { openaiError } from './openai-speech.ts';
import { startSpeechServer, type SpeechServer } from './start-speech-server.ts';

let server: SpeechServer;
afterEach(() => server.close());
const open = async () => (server = await startSpeechServer({ key: 'sk-right' }));
const client = (apiKey = 'sk-right') => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
const speech = { model: 'tts-1', voice: 'alloy', input: 'good morning' } as const;

describe('OpenAI client', () => {
  test('gets audio, and transcribes it back to its text', async () => {
    await open();
    const audio = await client().audio.speech.create({ ...speech, response_format: 'opus' });
    expect(audio.headers.get('content-type')).toBe('audio/opus');
    const file = await toFile(Buffer.from(await audio.arrayBuffer()), 'a.ogg', { type: 'audio/ogg' });
    expect((await client().audio.transcriptions.create({ file, model: 'gpt-4o-transcribe' })).text).toBe('good morning');
    const verbose = { file, model: 'whisper-1', response_format: 'verbose_json', language: 'en' } as const;
    expect(await client().audio.transcriptions.create(verbose)).toMatchObject({
      text: 'good morning',
      language: 'en',
      duration: 1.5,
    });
  });

  test('gets the errors of the vendor', async () => {
    await open();
    await expect(client('sk-wrong').audio.speech.create(speech)).rejects.toThrow(AuthenticationError);
    await expect(client().audio.speech.create({ ...speech, model: 'tts-9' })).rejects.toThrow(NotFoundError);
    await expect(client().audio.speech.create({ ...speech, voice: 'nobody' })).rejects.toThrow(BadRequestError);
    const file = await toFile(fakeAudio('mp3', 'x'), 'a.exe');
    await expect(client().audio.transcriptions.create({ file, model: 'whisper-1' })).rejects.toThrow(/Unrecognized file format/);
    server.next(openaiError(429, 'insufficient_quota', 'You exceeded your current quota.'));
    await expect(client().audio.speech.create(speech)).rejects.toThrow(RateLimitError);
  });
});

describe('ElevenLabs routes', () => {
  const post = (path: string, body: string | FormData, key = 'sk-right') =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'xi-api-key': key, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
      body,
    });
  const says = JSON.stringify({ text: 'good night', model_id: 'eleven_v3' });

  test('speak, and transcribe what was spoken', async () => {
    await open();
    const audio = await post(`/v1/text-to-speech/${elevenlabsVoice}/stream?output_format=mp3_44100_128`, says);
    const form = new FormData();
    form.set('model_id', 'scribe_v2');
    form.set('file', new Blob([await audio.arrayBuffer()], { type: 'audio/mpeg' }), 'a.mp3');
    const heard = (await (await post('/v1/speech-to-text', form)).json()) as object;
    expect(heard).toMatchObject({ text: 'good night', language_code: 'eng' });
  });

  test.each([
    [`/v1/text-to-speech/${elevenlabsVoice}/stream`, 'sk-wrong', 401, 'invalid_api_key'],
    ['/v1/text-to-speech/nobody/stream', 'sk-right', 404, 'voice_not_found'],
  ])('reject %s with the key %s', async (path, key, status, code) => {
    await open();
    const answer = await post(path, says, key);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ detail: { status: code } });
  });
});
