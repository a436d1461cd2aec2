import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { audioSeconds } from '../src/speech/audio-seconds.ts';
import { audioTypeOfBytes } from '../src/speech/audio-type.ts';
import { findEspeak } from '../src/speech/espeak.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';

const realPath = process.env['PATH'] ?? '';
const isInstalled = (await findEspeak({ PATH: realPath })) !== null;

let core: TestCore;
const open = async (env: Record<string, string> = {}) => {
  core = await openTestCore({ env: { PATH: realPath, ...env } });
  onTestFinished(() => core.close());
};
const speak = (body: object) => core.app.inject({ method: 'POST', url: '/v2/tts', payload: body });
const secondsOf = (wave: Buffer) => {
  const type = audioTypeOfBytes(wave);
  expect(type?.name).toBe('wav');
  return type === null ? 0 : audioSeconds(wave, type);
};

describe('espeak-ng', () => {
  beforeEach(({ skip }) => skip(!isInstalled, 'espeak-ng is not installed (apt-get install espeak-ng)'));

  test('is used when no other provider is set up, and costs nothing', async () => {
    await open();
    const short = await speak({ text: 'Hello.' });
    expect(short.statusCode, short.body.slice(0, 300)).toBe(200);
    expect(short.headers['content-type']).toBe('audio/wav');
    const long = await speak({ text: 'Hello, this is a much longer text, and it takes its time.' });
    expect(secondsOf(short.rawPayload)).toBeGreaterThan(0.3);
    expect(secondsOf(long.rawPayload)).toBeGreaterThan(2 * secondsOf(short.rawPayload));
    const usage = core.telemetry.events.filter(({ kind }) => kind === 'token-usage');
    expect(usage[0]).toMatchObject({
      cost_usd: 0,
      billed_cost_usd: 0,
      billed: false,
      payload: { feature: 'tts', provider: 'espeak', model: 'espeak-ng', units: 'characters', quantity: 6 },
    });
  });

  test('uses the requested voice, and rejects an unknown one by name', async () => {
    await open({ SVC_TTS_VOICE: 'de' });
    const [usual, english] = [await speak({ text: 'zwei' }), await speak({ text: 'zwei', voice: 'en-us' })];
    expect(usual.statusCode).toBe(200);
    expect(english.rawPayload.equals(usual.rawPayload)).toBe(false);
    const wrong = await speak({ text: 'zwei', voice: 'xx-nobody' });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.json()).toMatchObject({ reason: 'bad_voice', message: expect.stringContaining('xx-nobody') as string });
  });

  test('reads the text literally', async () => {
    await open();
    const texts = ['-f /etc/passwd', '[[h@l@U]]', 'one\0two\x07', '$(touch x)', '<speak>hi</speak>'];
    for (const text of texts) expect((await speak({ text })).statusCode, text).toBe(200);
    const [sounds, words] = [await speak({ text: '[[h@l@U]]' }), await speak({ text: '[ [h@l@U]]' })];
    expect(sounds.rawPayload.equals(words.rawPayload)).toBe(true);
  });

  test('supports only the wav format', async () => {
    await open();
    const answer = await speak({ text: 'hello', format: 'mp3' });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ reason: 'bad_format' });
  });
});

describe('a stand-in for espeak-ng', () => {
  const install = (script: string) => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const program = path.join(folder.path, 'espeak-ng');
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    return { PATH: `${folder.path}:/usr/bin:/bin`, folder: folder.path };
  };

  test('gets the text over stdin, not as an argument, and no secret in its environment', async () => {
    const { PATH, folder } = install('echo "$@" > "$(dirname "$0")/args"; env > "$(dirname "$0")/env"; cat');
    await open({ PATH, SECRET_TOKEN: 'not-for-programs' });
    const answer = await speak({ text: 'hello there', voice: 'de' });
    expect(answer.body).toBe('hello there');
    expect(readFileSync(path.join(folder, 'args'), 'utf8').trim()).toBe('--stdin --stdout -b 1 -v de');
    expect(readFileSync(path.join(folder, 'env'), 'utf8')).not.toContain('not-for-programs');
  });

  test.each([
    ['exit 3', 503, 'endpoint_down', /ended with code 3/],
    ['exec sleep 30', 503, 'endpoint_down', /took too long/],
  ])('that runs "%s" is reported as a failure', async (script, status, reason, words) => {
    await open({ PATH: install(script).PATH, SVC_TTS_TIMEOUT_MS: '300' });
    const answer = await speak({ text: 'hello' });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ reason, message: expect.stringMatching(words) as string });
  });

  test('that fails midway breaks the response off', async () => {
    await open({ PATH: install('printf RIFF; exit 1').PATH });
    const url = await core.app.listen({ port: 0, host: '127.0.0.1' });
    const asked = fetch(`${url}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"hello"}',
    });
    await expect(asked.then((answer) => answer.arrayBuffer())).rejects.toThrow();
  });

  test('is killed when its listener disconnects', async () => {
    const { PATH, folder } = install('echo $$ > "$(dirname "$0")/pid"; printf RIFF; exec sleep 30');
    await open({ PATH });
    const url = await core.app.listen({ port: 0, host: '127.0.0.1' });
    const leaver = new AbortController();
    const answer = await fetch(`${url}/v2/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"hello"}',
      signal: leaver.signal,
    });
    expect(answer.status).toBe(200);
    const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
    leaver.abort();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});
