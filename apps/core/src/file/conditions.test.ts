import { describe, expect, test } from 'vitest';
import { checkConditions, rangeOf, validatorsOf } from './conditions.ts';

const own = validatorsOf({ size: 10n, mtimeNs: 1_700_000_000_123_456_789n });
const [before, same, after] = [-1000, 0, 1000].map((ms) => new Date(Date.parse(own.lastModified) + ms).toUTCString());

test('the ETag of a file is strong and changes with its size and each nanosecond of its modification time', () => {
  expect(own).toEqual({ etag: '"a-17979cfe3d85cd15"', lastModified: 'Tue, 14 Nov 2023 22:13:20 GMT' });
  expect(validatorsOf({ size: 10n, mtimeNs: 1_700_000_000_123_456_790n }).etag).not.toBe(own.etag);
  expect(validatorsOf({ size: 11n, mtimeNs: 1_700_000_000_123_456_789n }).etag).not.toBe(own.etag);
});

describe('checkConditions()', () => {
  test.each([
    [{}, null],
    [{ 'if-none-match': own.etag }, 'not_modified'],
    [{ 'if-none-match': `W/${own.etag}` }, 'not_modified'],
    [{ 'if-none-match': `"x", ${own.etag}` }, 'not_modified'],
    [{ 'if-none-match': '*' }, 'not_modified'],
    [{ 'if-none-match': '"x"' }, null],
    [{ 'if-modified-since': same }, 'not_modified'],
    [{ 'if-modified-since': after }, 'not_modified'],
    [{ 'if-modified-since': before }, null],
    [{ 'if-modified-since': 'no date' }, null],
    [{ 'if-none-match': '"x"', 'if-modified-since': same }, null],
    [{ 'if-match': own.etag }, null],
    [{ 'if-match': '*' }, null],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-match': `W/${own.etag}` }, 'failed'],
    [{ 'if-unmodified-since': same }, null],
    [{ 'if-unmodified-since': before }, 'failed'],
    [{ 'if-unmodified-since': 'no date' }, null],
    [{ 'if-match': own.etag, 'if-unmodified-since': before }, null],
    [{ 'if-match': '"x"', 'if-none-match': own.etag }, 'failed'],
  ])('%j gives %j', (headers, verdict) => {
    expect(checkConditions(headers, own)).toBe(verdict);
  });
});

describe('rangeOf()', () => {
  test.each([
    ['bytes=2-4', { start: 2, end: 4 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=0-99', { start: 0, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-20', { start: 0, end: 9 }],
    ['BYTES=0-0', { start: 0, end: 0 }],
    ['bytes=0-2, 2-4,5-6', { start: 0, end: 6 }],
    ['bytes=0-1, -20', { start: 0, end: 9 }],
    ['bytes=0-1,20-30', { start: 0, end: 1 }],
    ['bytes=0-1,5-6', null],
    ['bytes=10-', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=20-30,40-', 'none'],
    ['bytes=', null],
    ['bytes=x-y', null],
    ['bytes', null],
    ['lines=1-2', null],
  ])('%s of a file of ten bytes gives %j', (range, expected) => {
    expect(rangeOf({ range }, 10, own)).toEqual(expected);
  });

  test('a range of an empty file cannot be satisfied', () => expect(rangeOf({ range: 'bytes=0-' }, 0, own)).toBe('none'));

  test.each([
    [own.etag, true],
    [own.lastModified, true],
    [`W/${own.etag}`, false],
    ['"x"', false],
    [before, false],
    [after, false],
    ['no date', false],
  ])('a range with If-Range %j is served: %j', (ifRange, isGiven) => {
    const found = rangeOf({ range: 'bytes=2-4', 'if-range': ifRange }, 10, own);
    expect(found).toEqual(isGiven ? { start: 2, end: 4 } : null);
  });
});
