import { expect, test } from 'vitest';
import { parseBytes } from './parse-values.ts';

test.each([
  ['1024mb', 2 ** 30],
  ['8 MiB', 8 * 2 ** 20],
  ['64MB', 64 * 2 ** 20],
  ['128gb', 128 * 2 ** 30],
  ['1.5k', 1536],
  ['100', 100],
  ['100b', 100],
  ['2T', 2 ** 41],
])('%s is %d bytes', (text, bytes) => expect(parseBytes(text)).toBe(bytes));

test.each(['', 'mb', '-1', '1e9', '8 miles', '1024 mb mb', '0x10', '9'.repeat(13), '999999999999t'])(
  '"%s" is not a size',
  (text) => expect(parseBytes(text)).toBeNull(),
);
