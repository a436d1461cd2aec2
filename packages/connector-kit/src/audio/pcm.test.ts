import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertPcm, createPcmConverter, pcmRates, type PcmFormat } from './pcm.ts';

const speech: PcmFormat = { rate: 24_000, channels: 1 };
const platform: PcmFormat = { rate: 48_000, channels: 2 };

const toBytes = (samples: readonly number[]) => Buffer.from(Int16Array.from(samples).buffer);
const toSamples = (bytes: Buffer) => Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(n * 2));
const whole = (bytes: Buffer, from: PcmFormat, to: PcmFormat) => {
  const converter = createPcmConverter(from, to);
  return Buffer.concat([converter.push(bytes), converter.end()]);
};
const left = (bytes: Buffer) => toSamples(bytes).filter((_, n) => n % 2 === 0);
const tone = (hz: number, rate: number, length: number, level = 16_000) =>
  Array.from({ length }, (_, n) => Math.round(level * Math.sin((2 * Math.PI * hz * n) / rate)));

const sample = fc.integer({ min: -32_768, max: 32_767 });
const format = fc.record({ rate: fc.constantFrom(...pcmRates), channels: fc.constantFrom(1 as const, 2 as const) });

describe('PCM conversion', () => {
  test('gives the same result however the input is cut', () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), cuts, format, format, (data, places, from, to) => {
        const bytes = Buffer.from(data);
        const converter = createPcmConverter(from, to);
        const borders = [0, ...places.map((place) => Math.min(place, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const parts = borders.slice(1).map((end, n) => converter.push(bytes.subarray(borders[n], end)));
        expect(Buffer.concat([...parts, converter.end()]).equals(whole(bytes, from, to))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('keeps the duration, to the sample', () => {
    fc.assert(
      fc.property(fc.nat({ max: 500 }), format, format, (frames, from, to) => {
        const bytes = whole(Buffer.alloc(frames * from.channels * 2), from, to);
        expect(bytes.length).toBe(Math.ceil((frames * to.rate) / from.rate) * to.channels * 2);
      }),
    );
  });

  test('keeps the samples of 24 kHz speech on both channels, with one interpolated between two', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 200 }), (samples) => {
        const frames = toSamples(whole(toBytes(samples), speech, platform));
        expect(frames.filter((_, n) => n % 4 === 0)).toEqual(samples);
        expect(frames.filter((_, n) => n % 2 === 1)).toEqual(frames.filter((_, n) => n % 2 === 0));
      }),
    );
  });

  test('leaves audio in the wanted format unchanged', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 100 }), format, (samples, form) => {
        const even = toBytes(samples.slice(0, samples.length - (samples.length % 2)));
        expect(whole(even, form, form).equals(even)).toBe(true);
      }),
    );
  });

  test.each([
    [24_000, 48_000, 1000],
    [22_050, 48_000, 1000],
    [22_050, 48_000, 6000],
    [16_000, 48_000, 3000],
    [48_000, 16_000, 3000],
    [44_100, 48_000, 5000],
  ] as const)('from %d to %d Hz, preserves a tone of %d Hz', (from, to, hz) => {
    const bytes = whole(toBytes(tone(hz, from, from / 5)), { rate: from, channels: 1 }, { rate: to, channels: 2 });
    const wanted = tone(hz, to, to / 5);
    const heard = left(bytes);
    // At its beginning and end the tone is mixed with silence.
    const noise = heard.map((value, n) => value - (wanted[n] ?? 0)).slice(100, -100);
    const power = noise.reduce((sum, value) => sum + value ** 2, 0) / noise.length;
    expect(10 * Math.log10(16_000 ** 2 / 2 / power)).toBeGreaterThan(60);
  });

  test('removes frequencies above the limit of the lower rate without aliasing', () => {
    const bytes = whole(toBytes(tone(12_000, 48_000, 9600)), { rate: 48_000, channels: 1 }, { rate: 16_000, channels: 1 });
    expect(Math.max(...toSamples(bytes).slice(100, -100).map(Math.abs))).toBeLessThan(30);
  });

  test('clips audio at full level without overflow', () => {
    const square = Array.from({ length: 400 }, (_, n) => (n % 40 < 20 ? 32_767 : -32_768));
    const heard = left(whole(toBytes(square), { rate: 22_050, channels: 1 }, platform));
    const inTheMiddle = heard.filter((_, n) => ((n * 22_050) / 48_000) % 20 > 5 && ((n * 22_050) / 48_000) % 20 < 15);
    expect(Math.min(...inTheMiddle.map(Math.abs))).toBeGreaterThan(28_000);
  });

  test('averages two channels into one', () => {
    const bytes = whole(toBytes([100, 300, -50, 50]), { rate: 48_000, channels: 2 }, { rate: 48_000, channels: 1 });
    expect(toSamples(bytes)).toEqual([200, 0]);
  });
});

test('a minute of audio keeps its exact length when pushed in odd-sized parts', () => {
  const converter = createPcmConverter({ rate: 22_050, channels: 1 }, { rate: 48_000, channels: 1 });
  const part = Buffer.alloc(22_050 * 2 + 1);
  let length = 0;
  for (let second = 0; second < 60; second++) length += converter.push(part).length;
  length += converter.end().length;
  expect(length / 2).toBe(Math.ceil((Math.floor((part.length * 60) / 2) * 48_000) / 22_050));
});

test('convertPcm() converts a stream part by part', async () => {
  const source = (async function* () {
    yield Buffer.from([1]);
    yield Buffer.from([0, 2, 0]);
  })();
  const parts = [];
  for await (const part of convertPcm(source, speech, platform)) parts.push(part);
  expect(left(Buffer.concat(parts)).filter((_, n) => n % 2 === 0)).toEqual([1, 2]);
});
