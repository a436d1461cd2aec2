import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteBlocks, freeBytes, freePart } from './byte-blocks.ts';

test('take() returns the added bytes, however they are cut', () => {
  const rule = fc.property(fc.array(fc.integer({ min: 0, max: 300_000 }), { maxLength: 6 }), (lengths) => {
    const parts = lengths.map((length, n) => Buffer.alloc(length, `${n}abcdefg`));
    const blocks = createByteBlocks();
    for (const part of parts) blocks.add(part);
    const all = Buffer.concat(parts);
    expect(blocks.length).toBe(all.length);
    expect(blocks.take().equals(all)).toBe(true);
    expect([blocks.length, blocks.take().length]).toEqual([0, 0]);
  });
  fc.assert(rule, { numRuns: 100 });
});

test('a body sent byte by byte takes only its bytes', () => {
  const blocks = createByteBlocks();
  const before = process.memoryUsage().arrayBuffers;
  const part = Buffer.from('x');
  for (let n = 0; n < 300_000; n++) blocks.add(part);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  blocks.drop();
});

test('small bodies share memory', () => {
  const parts = [Buffer.alloc(700, 'a'), Buffer.alloc(500, 'b')];
  const taken = Array.from({ length: 1000 }, () => createByteBlocks());
  const before = process.memoryUsage().arrayBuffers;
  const all = taken.map((blocks) => {
    for (const part of parts) blocks.add(part);
    return blocks.take();
  });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 1024 * 1024);
  // Freeing some of them must not affect the others.
  for (const bytes of all.slice(0, 500)) freeBytes(bytes);
  for (const bytes of all) expect(bytes.equals(Buffer.concat(parts))).toBe(true);
});

test('freeBytes() leaves shared memory alone', () => {
  const whole = Buffer.allocUnsafeSlow(100);
  freeBytes(whole.subarray(0, 10));
  expect(whole.length).toBe(100);
  freeBytes(whole);
  expect(whole.length).toBe(0);
});

test('freePart() frees a large part, unless it is a slice or short', () => {
  const large = Buffer.alloc(64 * 1024);
  const whole = Buffer.alloc(64 * 1024);
  const slice = whole.subarray(1);
  const short = Buffer.from('short');
  for (const part of [large, slice, short]) freePart(part);
  expect([large.length, slice.length, whole.length, short.toString()]).toEqual([0, 64 * 1024 - 1, 64 * 1024, 'short']);
});
