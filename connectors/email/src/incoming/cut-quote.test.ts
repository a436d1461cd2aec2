import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { cutQuote } from './cut-quote.ts';

const quoted = '> What is it?\n> Ann';

test.each([
  ['a line of Gmail', `It is blue.\n\nOn Tue, 3 Nov 2026 at 10:00, Ann <ann@x.example> wrote:\n\n${quoted}`],
  [
    'a line that is broken',
    `It is blue.\n\nOn Tue, 3 Nov 2026 at 10:00, Ann With A Long Name\n<ann@x.example> wrote:\n\n${quoted}`,
  ],
  ['German', `It is blue.\n\nAm 03.11.2026 um 10:00 schrieb Ann:\n${quoted}`],
  ['French', `It is blue.\n\nLe 3 nov. 2026 à 10:00, Ann a écrit :\n${quoted}`],
  ['Outlook', 'It is blue.\n\nFrom: Ann <ann@x.example>\nSent: Tuesday\nTo: Bob\nSubject: Colour\n\nWhat is it?'],
  ['an original message', 'It is blue.\n\n-----Original Message-----\nWhat is it?'],
  ['a quote alone', `It is blue.\n${quoted}`],
  ['Windows line ends', `It is blue.\r\n\r\nOn Tue, 3 Nov 2026 at 10:00, Ann wrote:\r\n> a\r\n`],
  ['a signature below the quote', `It is blue.\n${quoted}\n-- \nBob`],
])('cuts what is answered: %s', (_name, text) => {
  expect(cutQuote(text).kept).toBe('It is blue.');
});

test('cuts a signature, and keeps it at hand', () => {
  expect(cutQuote('Hello\n-- \nBob\nACME')).toEqual({ kept: 'Hello', quoted: '', signature: 'Bob\nACME' });
});

test.each([
  ['answers between quotes', '> one?\nyes\n> two?\nno'],
  ['a line that only reads like a head', 'On Monday in the office Bob wrote:\nnothing at all'],
  ['a list with dashes', 'a\n- b\n-- c'],
])('keeps %s', (_name, text) => {
  expect(cutQuote(text).kept).toBe(text);
});

test('no word is lost, whatever the text', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('> q', '-- ', '', 'On Tue, 3 Nov 2026 Ann wrote:', 'From: a@b', 'Sent: x', 'To: y'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const text = lines.join('\n');
      const { kept, quoted: cut, signature } = cutQuote(text);
      const words = (of: string) => of.replaceAll(/\s+|^-- ?$/gm, '').length;
      expect(words(kept) + words(cut) + words(signature)).toBe(words(text));
    }),
  );
});

test.each([
  ['quotes with an answer below them', `${'> \n'.repeat(100_000)}no`],
  ['heads without a quote', 'On Tue, 3 Nov 2026 Ann wrote:\n'.repeat(20_000)],
  ['empty lines', `${'>\n\n'.repeat(50_000)}no`],
])('a mail that is nothing but %s takes time in its length', (_what, text) => {
  const since = workedMs();
  expect(cutQuote(text).quoted).toBe('');
  expect(workedMs() - since).toBeLessThan(2000);
});
