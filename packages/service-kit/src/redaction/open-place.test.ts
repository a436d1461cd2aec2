import { describe, expect, test } from 'vitest';
import { createKeywordTable } from './keyword-table.ts';
import type { DetectionRule, Opening } from './rules/rule.ts';
import { findAll } from './rules/structure-rules.ts';
import { createTextDetector } from './text-detector.ts';

const secret = 'S3CRET7';
const masked = '[redacted:token]';
const find: DetectionRule['find'] = (text) => findAll(text, /(?<secret>S3CRET\d)/dg, 'token', () => true);

/** A detector with one keyword `k1`, which opens a place in this way. The rule alone would find the secret anywhere. */
const detector = (opening: Opening, isBound = false) =>
  createTextDetector(createKeywordTable([{ id: 'a', triggers: [{ opening, words: ['k1'], isBound }], find }]), false);
/** In one piece, and cut in two after a long text, most of which the detector drops at the cut: the result must be the same. */
const mask = (opening: Opening, text: string, isBound = false) => {
  const alone = detector(opening, isBound);
  const masked = alone.push(text) + alone.end();
  for (let cut = Math.max(0, text.length - 60); cut <= text.length; cut++) {
    const stream = detector(opening, isBound);
    const pieces = [stream.push(before + text.slice(0, cut)), stream.push(text.slice(cut)), stream.end()];
    expect(pieces.join('')).toBe(before + masked);
  }
  return masked;
};
const before = `${'n '.repeat(1500)}. `;
const expectMasked = (opening: Opening, text: string, isBound = false) =>
  expect(mask(opening, text, isBound)).toBe(text.replace(secret, masked));
const expectPlain = (opening: Opening, text: string, isBound = false) => expect(mask(opening, text, isBound)).toBe(text);

describe('opening', () => {
  test('token: only the run of characters around the keyword', () => {
    expectMasked('token', `k1${secret}`);
    expectMasked('token', `a K1-x-${secret} b`);
    expectMasked('token', `9${secret}-k1 b`);
    expectPlain('token', `k1 ${secret}`);
    expectPlain('token', `k1"${secret}"`);
    expectPlain('token', `${secret} k1`);
  });

  test('bound token: only where no word precedes the keyword', () => {
    expectMasked('token', `.k1-${secret}`, true);
    expectMasked('token', `k1-${secret}`, true);
    for (const before of ['a', 'Z', '9', '_']) expectPlain('token', `${before}k1-${secret}`, true);
  });

  test('assignment: what a nearby operator assigns', () => {
    for (const operator of ['=', ': ', ' => ', '|', ' := "', "', '", '\\": \\"'])
      expectMasked('assignment', `k1${operator}${secret}`);
    expectMasked('assignment', `k1${' '.repeat(26)}=${secret}`);
    expectPlain('assignment', `k1${' '.repeat(27)}=${secret}`);
    expectMasked('assignment', `k1_name.of-it = ${secret}`);
    expectPlain('assignment', `k1; x = ${secret}`);
    expectPlain('assignment', `k1 ${secret}`);
    expectPlain('assignment', `k1 = ; ${secret}`);
  });

  test('assignment: a value near the operator, up to its end', () => {
    expectMasked('assignment', `k1=${' '.repeat(8)}${secret}`);
    expectPlain('assignment', `k1=${' '.repeat(9)}${secret}`);
    expectPlain('assignment', `k1=value;${secret}`);
    expectPlain('assignment', `k1=valuevalue ${secret}`);
  });

  test('value: what follows immediately', () => {
    expectMasked('value', `k1${secret}`);
    expectPlain('value', `k1 ${secret}`);
    expectPlain('value', `k1, (${secret})`);
  });

  test('line: the rest of the line after an operator', () => {
    expectMasked('line', `k1: a b ${secret} c\n`);
    expectPlain('line', `k1: a b c\n${secret}`);
    expectPlain('line', `k1 a b ${secret}\n`);
    expectMasked('line', `k1${' '.repeat(8)}: a ${secret}`);
    expectPlain('line', `k1${' '.repeat(9)}: a ${secret}`);
  });

  test('span: the next two thousand characters', () => {
    expectMasked('span', `k1 ${'a '.repeat(1000)}${secret}`);
    expectPlain('span', `k1 ${'a '.repeat(1100)}${secret}`);
  });

  test('phone: digits and the characters between them', () => {
    const digitsOnly = (text: string) => {
      const rule: DetectionRule = {
        id: 'a',
        triggers: [{ opening: 'phone', words: ['+'] }],
        find: (piece) => findAll(piece, /(?<secret>\+[\d ()./-]{6,}\d)/dg, 'phone', () => true),
      };
      const stream = createTextDetector(createKeywordTable([rule]), false);
      return stream.push(text) + stream.end();
    };
    expect(digitsOnly('a +1 (234) 5-6/7.8 b')).toBe('a [redacted:phone] b');
    expect(digitsOnly('a +1234567')).toBe('a [redacted:phone]');
    expect(digitsOnly('a +1 2')).toBe('a +1 2');
    expect(digitsOnly('a +123456, +1234567.')).toBe('a +123456, [redacted:phone].');
    expect(digitsOnly(`+1234567 ${'n'.repeat(3000)} +1234567`)).toContain('n [redacted:phone]');
  });
});

test('a keyword whose value follows counts also where its last character ends the value of another name', () => {
  const triggers = [{ opening: 'assignment', words: ['name'] } as const, { opening: 'value', words: ['k1 ', '/k1/'] } as const];
  const table = createKeywordTable([{ id: 'a', triggers, find }]);
  for (const text of [`name: k1 ${secret}`, `the name is in x:/k1/${secret}`]) {
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = createTextDetector(table, false);
      const pieces = [stream.push(text.slice(0, cut)), stream.push(text.slice(cut)), stream.end()];
      expect(pieces.join('')).toBe(text.replace(secret, masked));
    }
  }
});

test('does not check a text shorter than any secret', () => {
  const asked: string[] = [];
  const rule: DetectionRule = {
    id: 'a',
    triggers: [{ opening: 'token', words: ['k1'] }],
    find: (text) => (asked.push(text), []),
  };
  const stream = createTextDetector(createKeywordTable([rule]), false);
  stream.push('k1a k1ab ');
  expect(asked).toHaveLength(1);
});

test('shows the rules some hundred characters before a place', () => {
  const seen: string[] = [];
  const rule: DetectionRule = { id: 'a', triggers: [{ opening: 'value', words: ['k1'] }], find: (text) => (seen.push(text), []) };
  const stream = createTextDetector(createKeywordTable([rule]), false);
  stream.push(`${'x'.repeat(3000)} name-of-k1:longvalue `);
  expect(seen[0]).toBe(' name-of-k1:longvalue ');
});

test('shows the rules the name before an assigned token', () => {
  const seen: string[] = [];
  const rule = (opening: Opening): DetectionRule => ({
    id: 'a',
    triggers: [{ opening, words: ['k1'] }],
    find: (text) => (seen.push(text), []),
  });
  for (const opening of ['token', 'assigned-token'] as const) {
    createTextDetector(createKeywordTable([rule(opening)]), false).push(`${'x '.repeat(500)}name = k1abcdef `);
  }
  expect(seen.map((text) => text.trimStart())).toEqual(['k1abcdef ', expect.stringMatching(/^(?:x )+name = k1abcdef $/)]);
  expect(seen[1]?.length).toBeLessThan(200);
});

test('asks only the rules whose keywords were seen', () => {
  const asked: string[] = [];
  const rule = (id: string): DetectionRule => ({
    id,
    triggers: [{ opening: 'token', words: [id] }],
    find: () => (asked.push(id), []),
  });
  const stream = createTextDetector(createKeywordTable([rule('k1'), rule('k2'), rule('k3')]), false);
  stream.push('k1-abcdefgh k2-abcdefgh-k3 ');
  expect(asked).toEqual(['k1', 'k2', 'k3']);
});

describe('place that does not end', () => {
  const long = 'x'.repeat(5000);

  test('is released after 4 KiB, and checked again from there', () => {
    const stream = detector('token');
    expect(stream.push('k1')).toBe('');
    expect(stream.push('y'.repeat(4000))).toBe('');
    expect(stream.push('y'.repeat(96)).length).toBeGreaterThan(4000);
    expect(stream.push(`k1${secret} z`)).toContain(masked);
  });

  test('is masked to the end of its run when a secret reaches the cut', () => {
    const rule: DetectionRule = {
      id: 'a',
      triggers: [{ opening: 'token', words: ['k1'] }],
      find: (text) => findAll(text, /(?<secret>k1x+)/dg, 'token', () => true),
    };
    const stream = createTextDetector(createKeywordTable([rule]), false);
    expect(stream.push(`a k1${long}`) + stream.push(`${long} b k1x${long.slice(0, 9)} c`) + stream.end()).toBe(
      `a ${masked} b ${masked} c`,
    );
  });

  test('is not masked further if it is an assignment, whose value is short', () => {
    const text = `k1=${secret}${'-'.repeat(5000)}`;
    expect(mask('assignment', text)).toBe(text);
  });
});
