import { expect, test } from 'vitest';
import { convertPcm, type PcmFormat } from '@svc/connector-kit/audio/pcm.ts';
import { canSay, hearTones, sayTones } from './tone-speech.ts';

const text = 'what time is it one one two rain no';

test('tones are decoded to the text they encode', () => {
  expect(hearTones(sayTones(text, 24_000), 24_000)).toBe(text);
  expect([canSay('What time is it?'), canSay('What else?'), canSay('')]).toEqual([true, false, false]);
});

test('silence is decoded to no text', () => {
  expect(hearTones(Buffer.alloc(48_000), 24_000)).toBe('');
});

test('tones are decoded after resampling, from any offset', async () => {
  const [from, to] = [
    { rate: 24_000, channels: 1 },
    { rate: 16_000, channels: 1 },
  ] as const satisfies PcmFormat[];
  const parts: Buffer[] = [];
  const source = (async function* () {
    yield Buffer.concat([Buffer.alloc(24_000 / 100), sayTones(text, from.rate)]);
  })();
  for await (const part of convertPcm(source, from, to)) parts.push(part);
  const pcm = Buffer.concat(parts);
  for (const offset of [0, 2, 74, 222]) expect(hearTones(pcm.subarray(offset), to.rate)).toBe(text);
});
