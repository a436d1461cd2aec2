import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLineGate } from './line-gate.ts';

async function pass(chunks: Buffer[], maxLength: number) {
  const onTooLong = vi.fn();
  const out: Buffer[] = [];
  const gate = Readable.from(chunks).pipe(createLineGate(maxLength, onTooLong));
  for await (const chunk of gate as AsyncIterable<Buffer>) out.push(chunk);
  return { out: Buffer.concat(out), tooLong: onTooLong.mock.calls.length };
}

test('passes lines within the limit unchanged, and stops at a longer one, however the input is cut', async () => {
  const line = fc.nat(12).map((length) => 'x'.repeat(length));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 30 }), async (lines, size) => {
      const whole = Buffer.from(lines.join('\n'));
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) => whole.subarray(n * size, (n + 1) * size));
      const { out, tooLong } = await pass(chunks, 10);
      expect(tooLong).toBe(lines.some((text) => text.length > 10) ? 1 : 0);
      if (tooLong === 0) expect(out.equals(whole)).toBe(true);
      else expect(whole.subarray(0, out.length).equals(out)).toBe(true);
      for (const text of out.toString().split('\n')) expect(text.length).toBeLessThanOrEqual(10);
    }),
  );
});

test('limits the pace of a program that writes without end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const mb = 1024 * 1024;
  const gate = createLineGate(1000, () => undefined);
  const line = Buffer.from(`${'x'.repeat(999)}\n`.repeat(64));
  let read = 0;
  Readable.from(
    (function* () {
      for (;;) yield line;
    })(),
  )
    .pipe(gate)
    .on('data', (chunk: Buffer) => (read += chunk.length));
  for (let part = 1; part <= 20; part++) {
    while (vi.getTimerCount() === 0) await new Promise(setImmediate); // until it waits
    expect(read).toBeGreaterThanOrEqual(part * mb);
    expect(read).toBeLessThan(part * (mb + line.length));
    vi.advanceTimersByTime(25);
  }
  gate.destroy();
});
