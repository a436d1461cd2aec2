import { Readable } from 'node:stream';
import type { SpeechApi } from '@svc/connector-kit';
import { expect, test } from 'vitest';
import { toWav } from './sound.ts';
import { createSpeakPcm } from './speak-pcm.ts';

const samples = Buffer.alloc(480, 1);
const wav = toWav(samples, { rate: 24_000, channels: 1 });
const mp3 = Buffer.from('ID3 and what follows', 'latin1');

/** A provider that always sends the same format, or the requested one. */
function open(answers: Record<string, { mime: string; bytes: Buffer }>) {
  const asked: string[] = [];
  const speak: SpeechApi['speak'] = async ({ format = '' }) => {
    asked.push(format);
    const { mime, bytes } = answers[format] ?? answers['any']!;
    return { mime, body: Readable.from([bytes]) };
  };
  const speakPcm = createSpeakPcm({ speak });
  const say = async (): Promise<number> => {
    let bytes = 0;
    for await (const part of speakPcm('Hello', 'ann', new AbortController().signal)) bytes += part.length;
    return bytes;
  };
  return { say, asked };
}

test.each([
  ['samples', { any: { mime: 'audio/pcm', bytes: samples } }, ['pcm', 'pcm']],
  ['bytes of no kind', { any: { mime: 'application/octet-stream', bytes: samples } }, ['pcm', 'pcm']],
  [
    'MP3 unless asked for a wave file',
    { pcm: { mime: 'audio/mpeg', bytes: mp3 }, wav: { mime: 'audio/wav', bytes: wav } },
    ['pcm', 'wav', 'wav'],
  ],
  ['a wave file under a wrong name', { any: { mime: 'audio/mpeg', bytes: wav } }, ['pcm', 'wav', 'wav']],
])('plays %s', async (_what, answers, asks) => {
  const { say, asked } = open(answers);
  expect([await say(), await say()]).toEqual([samples.length * 4, samples.length * 4]);
  expect(asked).toEqual(asks);
});

test.each(['audio/mpeg', 'audio/wav', 'audio/ogg'])('rejects other formats: %s', async (mime) => {
  await expect(open({ any: { mime, bytes: mp3 } }).say()).rejects.toMatchObject({ code: 'upstream' });
});
