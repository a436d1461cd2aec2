import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { textInSlices } from './in-slices.ts';
import { createOutboundMask } from './outbound-mask.ts';
import { createRedactor } from './redactor.ts';

const account = '{"type":"service_account","private_key_id":"a1b2c3d4","n":1}';
const secrets = [
  'Cnry7Var2kQzLwXp',
  'with "quotes" and \\ in it',
  '4111222233',
  'двa-слова-тайны',
  'line one\nline two of it',
  account,
];
const redactor = createRedactor(secrets);
const mask = createOutboundMask(redactor.known);
const [word = ''] = secrets;

/** Every string, number and key of a value, as text. */
function textsOf(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [String(value)];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsOf(part)]);
}

const leaks = (json: string): string[] => {
  const texts = [json, ...textsOf(JSON.parse(json))];
  return secrets.filter((secret) => texts.some((text) => text.includes(secret) || redactor.known(text) !== text));
};

test.each([
  ['a string', word],
  ['a string in a text of several lines', { text: `one\n"${word}"\ntwo` }],
  ['a key', { [word]: 1 }],
  ['a number', { n: 4_111_222_233 }],
  ['a part of a number', [94_111_222_233.5]],
  ['an object that is a secret itself', { payload: { key: JSON.parse(account) as unknown }, kept: 'yes' }],
  ['a text wrapped in the middle of it', { text: `${word.slice(0, 5)}\n${word.slice(5)}` }],
  ['JSON in JSON in JSON', { text: JSON.stringify(JSON.stringify({ text: secrets[1] })) }],
  ['a value with its own way to JSON', { at: { toJSON: () => word } }],
  ['deep nesting', Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], word)],
])('masks a known secret in %s', (_position, value) => {
  expect(leaks(mask.json(value))).toEqual([]);
  expect(leaks(mask.jsonText(JSON.stringify(value)))).toEqual([]);
});

test('masks known secrets in any JSON value, and leaves values without one unchanged', () => {
  const part = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...secrets) },
    { weight: 3, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(4_111_222_233, -4_111_222_233, 4111222233e5),
      fc.double(),
      fc.constantFrom(null, true),
      fc.constant(JSON.parse(account)),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(text, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, (any) => {
      const json = JSON.stringify(any);
      const written = mask.write(any);
      expect(leaks(written.json)).toEqual([]);
      expect(JSON.stringify(written.value)).toBe(written.json);
      expect(mask.jsonText(json)).toBe(written.json);
      expect(mask.jsonText(written.json)).toBe(written.json);
      if (leaks(json).length === 0) expect(written.value).toBe(any);
    }),
    { numRuns: 300 },
  );
});

test('keeps the types of masked values: objects stay objects, lists stay lists', () => {
  expect(JSON.parse(mask.json({ payload: JSON.parse(account), list: [word], n: 12 }))).toEqual({
    payload: { redacted: '[redacted:secret]' },
    list: ['[redacted:secret]'],
    n: 12,
  });
});

test('takes linear time for a text of escapes', () => {
  const json = JSON.stringify({ text: '\n\\'.repeat(250_000), more: Array.from({ length: 20_000 }, () => '\n') });
  const since = workedMs();
  expect(mask.jsonText(json)).toBe(json);
  expect(workedMs() - since).toBeLessThan(3000);
});

test('leaves 1 MB without secrets unchanged, in linear time', () => {
  const answer = {
    messages: Array.from({ length: 2000 }, (_, i) => ({ at: i, text: `line ${i}\n"quoted" ${'words '.repeat(80)}` })),
  };
  const json = JSON.stringify(answer);
  const since = workedMs();
  expect(mask.jsonText(json)).toBe(json);
  // A quarter of a second; quadratic work would take minutes.
  expect(workedMs() - since).toBeLessThan(5000);
});

test('masks a long response in slices, with the same result', async () => {
  const redactor = createRedactor(['sk-live-0123456789abcdef']);
  const longest: number[] = [];
  const filter = {
    text: (text: string) => (longest.push(text.length), redactor.known(text)),
    stream() {
      const stream = redactor.knownOnly.stream();
      return { ...stream, push: (text: string) => (longest.push(text.length), stream.push(text)), end: () => stream.end() };
    },
  };
  const inSlices = createOutboundMask(redactor.known, { inSlices: (text) => textInSlices(filter, text) });
  const clean = JSON.stringify({ a: 'nothing "here"\n'.repeat(20_000), b: ['x'.repeat(100_000)] });
  expect(await inSlices.longJsonText(clean)).toBe(clean);
  expect(Math.max(...longest)).toBeLessThanOrEqual(4096);
  for (const secret of ['sk-live-0123456789abcdef', 'sk-live-\\u0030123456789abcdef', 'sk-live-\n0123456789abcdef']) {
    const json = JSON.stringify({ a: 'word '.repeat(20_000) + secret, [secret]: 1 });
    expect(await inSlices.longJsonText(json)).toBe(inSlices.jsonText(json));
    expect(await inSlices.longJsonText(json)).toContain('[redacted:secret]');
  }
});
