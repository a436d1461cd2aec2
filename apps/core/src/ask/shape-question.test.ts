import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Question } from '@svc/engine-kit/engine.ts';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { askLimits, shapeQuestion } from './shape-question.ts';

const redactor = createRedactor(['hunter2-hunter2']);
const shape = (question: unknown) => shapeQuestion(redactor, question as Question);
const yes = { id: 'yes', label: 'Yes' };

test('secrets are masked in the text and the labels', async () => {
  const shaped = await shape({ text: 'Use hunter2-hunter2?', options: [{ id: 'a', label: 'the hunter2-hunter2' }] });
  expect(JSON.stringify(shaped)).not.toContain('hunter2');
  expect(shaped?.text).toMatch(/^Use \[redacted/);
});

test('rejects labels that become equal when masked', async () => {
  const options = ['hunter2-hunter2', 'hunter2-hunter2 '].map((label, at) => ({ id: `o${at}`, label }));
  expect(await shape({ text: 'Which?', options })).toBeNull();
});

test.each([
  ['no text', { text: ' \n', options: [yes] }],
  ['no answers', { text: 'x', options: [] }],
  ['too many answers', { text: 'x', options: Array.from({ length: 11 }, (_, at) => ({ id: `o${at}`, label: `${at}` })) }],
  ['one id twice', { text: 'x', options: [yes, { id: 'yes', label: 'No' }] }],
  ['labels that differ in capitals alone', { text: 'x', options: [yes, { id: 'no', label: 'YES' }] }],
  ['an empty label', { text: 'x', options: [{ id: 'a', label: '\t' }] }],
  ['an invalid id', { text: 'x', options: [{ id: '1', label: 'A' }] }],
  ['what is no text', { text: 5, options: [yes] }],
  ['what are no answers', { text: 'x', options: 'yes' }],
])('rejects a question with %s', async (_what, question) => expect(await shape(question)).toBeNull());

test('collapses blanks and escapes control characters, so that nothing is hidden', async () => {
  const text = `Run ls?${'\n'.repeat(500)}rm -rf ~${' '.repeat(5000)}now \u202Egnp.exe\u0007\u001B[2J`;
  expect((await shape({ text, options: [yes] }))?.text).toBe(
    'Run ls?\n\n[…]\n\nrm -rf ~ […] now \\u202egnp.exe\\u0007\\u001b[2J',
  );
  const longer = `Run ls?${' '.repeat(50_000)}rm -rf ~`;
  expect((await shape({ text: longer, options: [yes] }))?.text).toBe('Run ls? […] […]');
});

test('truncates text and labels of a megabyte quickly', async () => {
  const since = performance.now();
  const shaped = await shape({ text: 'word '.repeat(200_000), options: [{ id: 'a', label: 'long '.repeat(200_000) }] });
  expect(shaped?.text.length).toBeLessThanOrEqual(askLimits.text + 40);
  expect(shaped?.options[0]?.label.length).toBeLessThanOrEqual(askLimits.label + 40);
  expect(performance.now() - since).toBeLessThan(10_000);
});

test('a random question is either rejected or well-formed, bounded and with distinct answers', async () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udc00x', 'a\u0000b', 'Yes', 'yes '));
  const option = fc.record({
    id: fc.oneof(fc.constantFrom('a', 'b', 'yes'), text),
    label: text,
    style: fc.constantFrom('danger', 'x'),
  });
  await fc.assert(
    fc.asyncProperty(text, fc.array(option, { maxLength: 12 }), async (asked, options) => {
      const shaped = await shape({ text: asked, options });
      if (shaped === null) return;
      expect(JSON.stringify(shaped).isWellFormed() && shaped.text.isWellFormed()).toBe(true);
      expect(shaped.options.every(({ label }) => label.isWellFormed() && !label.includes('\n'))).toBe(true);
      expect(new Set(shaped.options.map(({ id }) => id)).size).toBe(options.length);
      expect(new Set(shaped.options.map(({ label }) => label.toLowerCase())).size).toBe(options.length);
    }),
  );
});
