import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChangedError, open, seal } from './sealed-stream.ts';

const key = randomBytes(32);
const place = { silo: 'silo_1', path: 'a/b.txt' };

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function all(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}
const sealed = (bytes: Buffer, size = 1000) => all(seal(pieces(bytes, size), key, place));
const opened = (bytes: Buffer, size = 1000, own = key, at = place) => all(open(pieces(bytes, size), own, at));

test('sealed bytes open again, however they are split', async () => {
  const lengths = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(65_535, 65_536, 65_537, 131_072, 200_000));
  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.integer({ min: 1, max: 90_000 }),
      fc.integer({ min: 1, max: 90_000 }),
      async (length, into, outOf) => {
        fc.pre(length / Math.min(into, outOf) < 5000);
        const bytes = randomBytes(length);
        const closed = await sealed(bytes, into);
        // A few bytes may occur in any ciphertext by chance.
        if (length >= 16) expect(closed.includes(bytes.subarray(0, 32))).toBe(false);
        expect((await opened(closed, outOf)).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('rejects sealed bytes that are changed, truncated, extended or moved', async () => {
  const bytes = randomBytes(150_000);
  const closed = await sealed(bytes);
  const part = 65_536 + 16;
  const flipped = (at: number) => Buffer.from(closed).fill((closed[at] ?? 0) ^ 1, at, at + 1);
  const wrong: [string, Buffer][] = [
    ['magic', flipped(0)],
    ['salt', flipped(20)],
    ['first part', flipped(50)],
    ['last part', flipped(closed.length - 20)],
    ['last tag', flipped(closed.length - 1)],
    ['no last part', closed.subarray(0, 40 + 2 * part)],
    ['half a part', closed.subarray(0, closed.length - 100)],
    ['more behind it', Buffer.concat([closed, Buffer.alloc(17)])],
    [
      'two parts swapped',
      Buffer.concat([
        closed.subarray(0, 40),
        closed.subarray(40 + part, 40 + 2 * part),
        closed.subarray(40, 40 + part),
        closed.subarray(40 + 2 * part),
      ]),
    ],
    ['a part left out', Buffer.concat([closed.subarray(0, 40), closed.subarray(40 + part)])],
    ['the head only', closed.subarray(0, 40)],
    ['nothing', Buffer.of()],
  ];
  for (const [name, candidate] of wrong) await expect(opened(candidate), name).rejects.toThrow(ChangedError);
  await expect(opened(closed, 1000, randomBytes(32))).rejects.toThrow(ChangedError);
  await expect(opened(closed, 1000, key, { ...place, path: 'a/c.txt' })).rejects.toThrow(ChangedError);
  await expect(opened(closed, 1000, key, { ...place, silo: 'silo_2' })).rejects.toThrow(ChangedError);
});

test('yields nothing of a part before it is verified', async () => {
  const closed = await sealed(randomBytes(100));
  const out: Buffer[] = [];
  const read = async () => {
    for await (const part of open(pieces(Buffer.from(closed).fill(0, 60, 61), 7), key, place)) out.push(part);
  };
  await expect(read()).rejects.toThrow(ChangedError);
  expect(out).toEqual([]);
});
