import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RecordingResult } from '@svc/contract/speech.ts';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { clip, openSpeechBench } from './open-speech-bench.ts';

const bench = openSpeechBench();
const { open, openai, record, usage } = bench;

describe('a recording', () => {
  const manifest = (): ManifestEntry[] =>
    readFileSync(path.join(bench.core.folder, 'uploads', 'manifest.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ManifestEntry);

  test('is stored in the upload area with the kind "recording"', async () => {
    await open();
    const answer = await record(clip, '?filename=note.ogg&conversation_key=mobile:1:x');
    expect(answer.statusCode, answer.body).toBe(200);
    const { file, transcription } = answer.json<RecordingResult>();
    expect(file).toMatchObject({ name: 'note.ogg', mime: 'audio/ogg', kind: 'recording', bytes: clip.length });
    expect(readFileSync(file.path)).toEqual(clip);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(transcription).toBeUndefined();
    expect(manifest()).toMatchObject([{ kind: 'recording', conversation_key: 'mobile:1:x' }]);
    expect(bench.server.requests).toEqual([]);
  });

  test('is transcribed on request, and named by its time by default', async () => {
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

  test('may be empty; only its transcription is refused', async () => {
    await open();
    const answer = await record(Buffer.alloc(0), '?transcribe=1');
    expect(answer.statusCode, answer.body).toBe(200);
    const { file, transcription } = answer.json<RecordingResult>();
    expect(file).toMatchObject({ kind: 'recording', bytes: 0 });
    expect(transcription).toMatchObject({ ok: false, error: 'bad_request', message: 'The clip is empty.' });
    expect(bench.server.requests).toEqual([]);
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

  test('sent as JSON is refused with a hint to send it as the body', async () => {
    await open();
    const refused = await record(Buffer.from('{"data_base64":"aGk="}'), '', 'application/json');
    const { message } = refused.json<{ message: string }>();
    expect(message).toContain('Send the clip as the body');
    expect(message).not.toContain('data_base64');
  });

  test('is limited by SVC_RAW_BODY_LIMIT', async () => {
    await open({ ...openai(), SVC_RAW_BODY_LIMIT: '1kb' });
    const answer = await record(clip);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ variable: 'SVC_RAW_BODY_LIMIT' });
    expect(existsSync(path.join(bench.core.folder, 'uploads', 'manifest.jsonl'))).toBe(false);
  });
});
