import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBody } from './read-body.ts';

test('reads a body up to its limit however it is cut, and rejects a larger one', async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 50_000 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, fc.integer({ min: -2, max: 2 }), async (arrays, more) => {
      const whole = Buffer.concat(arrays);
      const read = readBody(Readable.from(arrays.map((array) => Buffer.from(array))), Math.max(0, whole.length + more));
      if (whole.length + more < whole.length && whole.length > 0) await expect(read).rejects.toThrow('larger than');
      else expect((await read).equals(whole)).toBe(true);
    }),
  );
});

test('stops reading an endless body at the limit', async () => {
  let written = 0;
  const endless = Readable.from(
    (async function* () {
      for (;;) {
        written += 65_536;
        yield Buffer.alloc(65_536);
      }
    })(),
  );
  await expect(readBody(endless, 1_000_000)).rejects.toThrow('larger than');
  expect(endless.destroyed).toBe(true);
  expect(written).toBeLessThan(3_000_000);
});
