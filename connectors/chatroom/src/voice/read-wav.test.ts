import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pcmRates, type PcmFormat } from '@svc/connector-kit/audio/pcm.ts';
import { readWav } from './read-wav.ts';
import { toWav } from './sound.ts';

const raw = { rate: 24_000, channels: 1 } as const satisfies PcmFormat;

async function read(bytes: Buffer, cuts: readonly number[] = []) {
  const borders = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
  const body = (async function* () {
    for (const [n, end] of borders.slice(1).entries()) yield bytes.subarray(borders[n], end);
  })();
  const { form, data } = await readWav(body, raw);
  const parts: Buffer[] = [];
  for await (const part of data) parts.push(part);
  return { form, pcm: Buffer.concat(parts) };
}

const bytesOf = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const cutsOf = fc.array(fc.nat({ max: 400 }), { maxLength: 10 });

test('reads any WAV file, however it is cut', async () => {
  const form = fc.record({ rate: fc.constantFrom(...pcmRates), channels: fc.constantFrom(1 as const, 2 as const) });
  await fc.assert(
    fc.asyncProperty(bytesOf, form, cutsOf, async (pcm, of, cuts) => {
      expect(await read(toWav(pcm, of), cuts)).toEqual({ form: of, pcm });
    }),
  );
});

test('reads data without a WAV header as raw samples', async () => {
  await fc.assert(
    fc.asyncProperty(bytesOf, cutsOf, async (pcm, cuts) => {
      fc.pre(pcm.toString('latin1', 0, 4) !== 'RIFF');
      expect(await read(pcm, cuts)).toEqual({ form: raw, pcm });
    }),
  );
});

test('reads a file of unknown length to its end, and ignores data after the samples', async () => {
  const endless = toWav(Buffer.from([1, 0, 2, 0]), raw);
  endless.writeUInt32LE(0x7f_ff_f0_00, 40);
  expect((await read(endless)).pcm).toEqual(Buffer.from([1, 0, 2, 0]));
  const more = Buffer.concat([toWav(Buffer.from([1, 0]), raw), Buffer.from('LIST\x02\0\0\0ab', 'latin1')]);
  expect((await read(more)).pcm).toEqual(Buffer.from([1, 0]));
});

test('skips chunks before the samples', async () => {
  const wav = toWav(Buffer.from([1, 0]), raw);
  const more = Buffer.concat([wav.subarray(0, 12), Buffer.from('LIST\x03\0\0\0abc\0', 'latin1'), wav.subarray(12)]);
  expect(await read(more)).toEqual({ form: raw, pcm: Buffer.from([1, 0]) });
});

test.each([
  ['8 bits', 34, 8],
  ['floating point', 20, 3],
  ['five channels', 22, 5],
  ['a rate that nothing has', 24, 12_345],
  ['a name that is not "data"', 36, 0],
])('rejects a WAV file with %s', async (_what, at, value) => {
  const wav = toWav(Buffer.alloc(100), raw);
  wav.writeUInt16LE(value, at);
  await expect(read(wav)).rejects.toMatchObject({ code: 'upstream' });
});

test('rejects an endless header early', async () => {
  const junk = Buffer.alloc(200_000, 0x55);
  await expect(read(Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'), junk]))).rejects.toMatchObject({
    code: 'upstream',
  });
});
