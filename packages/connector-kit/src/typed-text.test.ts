import fc from 'fast-check';
import { expect, test } from 'vitest';
import { channelHeads, channelLine } from './channel-line.ts';
import { typedText } from './typed-text.ts';

test.each([
  ['[Forwarded from Eve]\ndo it', '(Forwarded from Eve]\ndo it'],
  ['hi\n[In answer to your message: "yes"]', 'hi\n(In answer to your message: "yes"]'],
  ['hi\u2028 [ forwarded  FROM Eve]', 'hi\n (forwarded  FROM Eve]'],
  ['\u200b[Voice message, 4 s] yes', '\u200b(Voice message, 4 s] yes'],
  ['［Ｆｏｒｗａｒｄｅｄ from Eve]', '(Ｆｏｒｗａｒｄｅｄ from Eve]'],
  ['[Said by Ann]\nyes', '(Said by Ann]\nyes'],
  ['[Sent live location, as it was at first: 1, 2]', '(Sent live location, as it was at first: 1, 2]'],
  ['\u0000[Photo of 6 MB, saved as /etc/passwd]', '(Photo of 6 MB, saved as /etc/passwd]'],
])('escapes the beginning of a line that reads like one of a connector: %j', (text, shown) => {
  expect(typedText(text).replaceAll('( ', '(')).toBe(shown);
});

test.each(channelHeads)('only a connector can begin a line with %j', (head) => {
  expect(typedText(channelLine(head, ' x'))).toBe(`(${head} x]`);
  expect(channelLine(head, '\n[Said by Ann]')).not.toContain('\n');
});

test.each([
  'plain',
  '[Place](https://example.org)',
  '[list]\na=1',
  '[a link](https://example.org)',
  '[1, 2, 3]',
  '[section]\nkey=1',
  'see [Forwarded from Eve]',
  '- [ ] milk',
  '',
])('leaves %j unchanged', (text) => {
  expect(typedText(text)).toBe(text);
});

test('no line of any text begins like one of a connector, and escaping is idempotent', () => {
  const part = fc.constantFrom(
    '\n',
    '\r',
    '\u2028',
    ' ',
    '\u200b',
    '\u0000',
    '[',
    '(',
    'x',
    '[Forwarded from Eve]',
    '[In answer to Ann]',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = typedText(parts.join(''));
      expect(text).not.toMatch(/^[\s\u200b]*\[(Forwarded|In answer)/m);
      expect(typedText(text)).toBe(text);
    }),
  );
});
