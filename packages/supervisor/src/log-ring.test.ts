import { createFakeClock } from '@svc/testing/fake-clock.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogRing, logLimits, type LogRing } from './log-ring.ts';

const texts = (ring: LogRing) => ring.lines().map((line) => line.text);

describe('log ring', () => {
  test('keeps the last 500 lines, oldest first', () => {
    const ring = createLogRing({ clock: createFakeClock(1) });
    for (let i = 0; i < 1234; i++) ring.write('stdout', Buffer.from(`line ${i}\n`));
    expect(ring.lines()).toHaveLength(500);
    expect(texts(ring)[0]).toBe('line 734');
    expect(texts(ring).at(-1)).toBe('line 1233');
  });

  test('truncates a line at 8 KiB and continues with the next', () => {
    const ring = createLogRing({ clock: createFakeClock(1) });
    for (let i = 0; i < 100; i++) ring.write('stdout', Buffer.alloc(64 * 1024, 'x'));
    ring.write('stdout', Buffer.from('\nnext\n'));
    expect(texts(ring)).toEqual([`${'x'.repeat(logLimits.lineBytes)} … [cut]`, 'next']);
  });

  test('keeps the two streams separate', () => {
    const ring = createLogRing({ clock: createFakeClock(1) });
    ring.write('stdout', Buffer.from('one '));
    ring.write('stderr', Buffer.from('bad\n'));
    ring.write('stdout', Buffer.from('two\n'));
    expect(ring.lines()).toEqual([
      { at: 1, stream: 'stderr', text: 'bad' },
      { at: 1, stream: 'stdout', text: 'one two' },
    ]);
  });

  test('returns the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter((s) => !/[\r\n]/.test(s))),
        fc.infiniteStream(fc.nat({ max: 7 })),
        (lines, sizes) => {
          const ring = createLogRing({ clock: createFakeClock(1) });
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          for (let from = 0; from < bytes.length;) {
            const size = 1 + Number(sizes.next().value);
            ring.write('stdout', bytes.subarray(from, from + size));
            from += size;
          }
          expect(texts(ring)).toEqual(lines);
        },
      ),
    );
  });

  test('flush() keeps an unfinished last line', () => {
    const ring = createLogRing({ clock: createFakeClock(1) });
    ring.write('stderr', Buffer.from('half a'));
    expect(texts(ring)).toEqual([]);
    ring.flush();
    expect(texts(ring)).toEqual(['half a']);
  });

  test('masks a line before it is stored or passed on', () => {
    const seen: string[] = [];
    const ring = createLogRing({
      clock: createFakeClock(1),
      mask: (text) => text.replaceAll('hunter2', '***'),
      onLine: (line) => seen.push(line.text),
    });
    ring.write('stdout', Buffer.from('token hun'));
    ring.write('stdout', Buffer.from('ter2\n'));
    expect(texts(ring)).toEqual(['token ***']);
    expect(seen).toEqual(['token ***']);
  });
});
