import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseReader, type SseEvent } from './sse-reader.ts';

const readAll = (...pieces: string[]): SseEvent[] => {
  const reader = createSseReader();
  return pieces.flatMap((piece) => reader.push(piece));
};

describe('the reader of event streams', () => {
  it.each([
    ['an event', 'event: delta\ndata: {"a":1}\n\n', [{ event: 'delta', data: '{"a":1}', id: null }]],
    ['data without a space', 'data:x\n\n', [{ event: 'message', data: 'x', id: null }]],
    ['data of several lines', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb', id: null }]],
    [
      'CRLF and CR',
      'data: a\r\n\r\ndata: b\r\rx',
      [
        { event: 'message', data: 'a', id: null },
        { event: 'message', data: 'b', id: null },
      ],
    ],
    ['an id', 'id: 7\ndata: a\n\n', [{ event: 'message', data: 'a', id: '7' }]],
    ['an empty data field', 'data\n\n', [{ event: 'message', data: '', id: null }]],
    ['a byte order mark', '\uFEFFdata: a\n\n', [{ event: 'message', data: 'a', id: null }]],
  ])('takes %s', (_, text, expected) => {
    expect(readAll(text)).toEqual(expected);
  });

  it.each([
    ['comments', ': keep-alive\n\n'],
    ['an event without data', 'event: x\n\n'],
    ['what is not finished', 'event: x\ndata: 1\n'],
  ])('gives nothing for %s', (_, text) => {
    expect(readAll(text)).toEqual([]);
  });

  it('gives the same events however the text is cut', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text));
    const anyEvent = fc.record({
      event: line.filter((name) => name !== ''),
      data: fc.array(line, { minLength: 1 }),
      end: fc.constantFrom('\n', '\r\n', '\r'),
    });
    fc.assert(
      fc.property(fc.array(anyEvent), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (events, sizes) => {
        const text = events
          .map(({ event, data, end }) => `event: ${event}${end}${data.map((part) => `data: ${part}${end}`).join('')}${end}`)
          .join('');
        const pieces: string[] = [];
        for (let at = 0; at < text.length;) {
          const size = Number(sizes.next().value);
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        // The last CR waits for its LF; what follows in a live stream lets it go.
        expect(readAll(...pieces, ': end\n')).toEqual(
          events.map(({ event, data }) => ({ event, data: data.join('\n'), id: null })),
        );
      }),
    );
  });
});
