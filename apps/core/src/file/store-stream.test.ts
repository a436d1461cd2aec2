import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { releaseBuffers, hasOwnBytes } from './store-stream.ts';

test('releaseBuffers() empties buffers that own their memory and keeps those that share it', () => {
  const own = Buffer.from(new ArrayBuffer(70_000));
  const whole = Buffer.from(new ArrayBuffer(1000)).fill('a');
  const pooled = Buffer.from('from the pool');
  const shared = [whole.subarray(0, 500), whole.subarray(500)];
  releaseBuffers([own, pooled, ...shared]);
  expect([own.length, pooled.toString(), whole.toString().length]).toEqual([0, 'from the pool', 1000]);
});

test('a stream of bytes that others own is not taken for a body whose buffers may be released', () => {
  expect(hasOwnBytes(Readable.from([randomBytes(10)]))).toBe(false);
});
