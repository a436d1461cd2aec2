import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSilenceFilter } from './silence.ts';

const marker = '[[NO_REPLY]]';

/** Runs a text through the filter, cut at the given places. */
function filter(text: string, cuts: number[] = []) {
  const silence = createSilenceFilter();
  const places = [0, ...[...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b), text.length];
  const pieces = places.slice(1).map((end, index) => silence.push(text.slice(places[index], end)));
  const rest = silence.end();
  return { pieces, out: pieces.join('') + rest.text, silent: rest.silent };
}

test.each([
  ['a plain reply', 'hello', { out: 'hello', silent: false }],
  ['the marker alone', marker, { out: '', silent: true }],
  ['the marker with white space after it', `${marker} \n`, { out: '', silent: true }],
  ['the marker in bold', `**${marker}**`, { out: '**', silent: true }],
  ['the marker as code, ended like a sentence', `\`${marker}\`.`, { out: '`', silent: true }],
  ['the marker before a quote', `"${marker}" is what I would say`, { out: '"" is what I would say', silent: false }],
  ['text before the marker', `never mind ${marker}`, { out: 'never mind ', silent: true }],
  ['the marker in the middle', `a ${marker} b`, { out: 'a  b', silent: false }],
  ['a part of the marker at the end', 'see [[NO_REP', { out: 'see [[NO_REP', silent: false }],
])('[P08] %s', (_name, text, expected) => {
  expect(filter(text)).toMatchObject(expected);
});

test('[P08] the marker is never shown, and the outcome does not depend on how the stream is cut', () => {
  const text = fc
    .array(fc.constantFrom(marker, '[[', '[[NO_', ' ', '\n', 'word', ']]', '**', '.'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (reply, cuts) => {
      const whole = filter(reply);
      const cut = filter(reply, cuts);
      expect(cut.silent).toBe(whole.silent);
      expect(cut.out).toBe(whole.out);
      expect(cut.pieces.join('')).not.toContain(marker);
      expect(cut.silent).toBe(reply.replace(/[\s*.]+$/, '').endsWith(marker));
    }),
    { numRuns: 2000 },
  );
});
