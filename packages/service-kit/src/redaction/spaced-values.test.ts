import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';
import { isWhiteSpace } from './unit-kinds.ts';

const redactor = createRedactor(['correct horse battery', 'zq9-known-secret-77', 'line one\nline two', 'päss wort']);
const masked = '[redacted:secret]';

describe('white space in a secret', () => {
  test.each([
    ['a tab', 'correct\thorse\tbattery'],
    ['two spaces', 'correct  horse  battery'],
    ['line ends', 'correct\nhorse\r\nbattery'],
    ['lines and an indentation', 'correct\n    horse\n\t battery'],
    ['spaces that do not break', 'correct\u00A0horse\u202Fbattery'],
    ['ideographic and thin spaces', 'correct\u3000horse\u2009battery'],
    ['a character that nobody sees', 'correct \u200B horse battery'],
    ['spaces for its line end', 'line one line two'],
    ['the other normal form', 'pa\u0308ss  wort'],
    ['the longest gap', `correct${' '.repeat(64)}horse battery`],
  ])('is matched when written as %s', (_name, text) => {
    expect(redactor.known(`<${text}>`)).toBe(`<${masked}>`);
    expect(redactor.text(`<${text}>`)).toBe(`<${masked}>`);
  });

  test.each(['correcthorsebattery', 'correct horse bat tery', 'correct. horse battery', `correct${' '.repeat(65)}horse battery`])(
    'does not match other text: %.40s',
    (text) => expect(redactor.known(text)).toBe(text),
  );

  test('is matched in a stream, however it is cut', () => {
    const gap = fc.constantFrom(' ', '\t', '\n', '  ', '\u00A0', '\r\n  ', '\u2003');
    const texts = fc
      .array(fc.oneof(gap, fc.constantFrom('correct', 'horse', 'battery', 'line', 'one', 'two', 'x', '-')), { maxLength: 20 })
      .map((parts) => parts.join(''));
    const property = fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, size) => {
      const stream = redactor.knownOnly.stream();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
      out += stream.end();
      expect(out).toBe(redactor.known(text));
      expect(out.replaceAll(/\s+/g, ' ')).not.toMatch(/correct horse battery|line one line two/);
      expect(redactor.known(out)).toBe(out);
    });
    fc.assert(property, { numRuns: 500 });
  });
});

test('isWhiteSpace() agrees with regular expressions on every character', () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => unit);
  expect(units.filter((unit) => isWhiteSpace(unit) !== /\s/.test(String.fromCharCode(unit)))).toEqual([]);
});
