import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodingFor, hasVersion, rangeOf } from './conditions.ts';

describe('rangeOf()', () => {
  test.each([
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=9-99', { start: 9, end: 9 }],
    ['bytes=10-', 'none'],
    ['bytes=10-12', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=5-2', null],
    ['bytes=0-1,4-5', null],
    ['bytes=-', null],
    ['bytes=a-b', null],
    ['bytes= 0-1', null],
    ['lines=0-1', null],
    ['', null],
    [undefined, null],
    ['bytes=0-99999999999999999999', null],
  ])('parses %s for a file of ten bytes', (header, range) => {
    expect(rangeOf(header, 10)).toEqual(range);
  });

  test('always returns a range within the file', () => {
    const edge = fc.oneof(fc.constant(''), fc.nat({ max: 30 }).map(String));
    fc.assert(
      fc.property(edge, edge, fc.nat({ max: 20 }), (first, last, size) => {
        const range = rangeOf(`bytes=${first}-${last}`, size);
        if (range === null || range === 'none') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });

  test('does not throw on any header', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void rangeOf(`bytes=${header}`, 10)));
  });
});

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
  [undefined, false],
])('hasVersion() for If-None-Match: %s and version "a" returns %s', (header, has) => {
  expect(hasVersion(header, '"a"')).toBe(has);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br; q=0.000, *', 'gzip'],
  ['*;q=0', null],
  ['BR', 'br'],
  ['identity', null],
  ['', null],
  ['br;q=x', null],
  [undefined, null],
])('Accept-Encoding: %s selects %s', (header, encoding) => {
  expect(encodingFor(header, ['br', 'gzip'])).toBe(encoding);
});

test('selects no encoding that is not available', () => {
  expect(encodingFor('br, gzip', [])).toBeNull();
  expect(encodingFor('br', ['gzip'])).toBeNull();
});
