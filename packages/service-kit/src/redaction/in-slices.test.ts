import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningAtOnce, beginningInSlices, textInSlices, valueInSlices } from './in-slices.ts';
import { createRedactor } from './redactor.ts';

const redactor = createRedactor(['zq9-known-secret-77']);
const secret = 'password = "Tr0ub4dor&3", zq9-known-secret-77 and ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8. ';

test('masks a short text at once, and a long one in slices with the same result', async () => {
  expect(textInSlices(redactor, secret)).toBe(redactor.text(secret));
  const length = fc.integer({ min: 1, max: 12_000 });
  const property = fc.asyncProperty(length, fc.constantFrom('x', ' ', 'key=', '\n'), async (count, part) => {
    const text = part.repeat(count) + secret.repeat(60);
    expect(await textInSlices(redactor, text)).toBe(redactor.text(text));
  });
  await fc.assert(property, { numRuns: 40 });
});

test('yields to the event loop while a long text is masked', async () => {
  let turns = 0;
  const count = () => void (turns++, (timer = setImmediate(count)));
  let timer = setImmediate(count);
  await textInSlices(redactor, secret.repeat(10_000));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(5);
});

test('masks a value in slices with the same result: keys, long texts, numbers, depth', async () => {
  let deep: unknown = 'x';
  for (let i = 0; i < 120; i++) deep = [deep];
  const value = { [secret]: [1, null, true, secret, secret.repeat(200)], deep };
  expect(await valueInSlices(redactor, value)).toEqual(redactor.value(value));
});

test('the beginning of a text does not end within a secret, and the rest is not read', async () => {
  for (let cut = 0; cut < 30; cut++) {
    const text = `${'a '.repeat(16_384 / 2)}${' '.repeat(cut)}${secret.repeat(3)}`;
    const shown = await beginningInSlices(redactor, text, 16_384 + cut + 20);
    expect(redactor.text(text).startsWith(shown)).toBe(true);
    expect(beginningAtOnce(redactor, text, 16_384 + cut + 20)).toBe(shown);
  }
  const huge = 'b '.repeat(500_000);
  expect(await beginningInSlices(redactor, huge, 1000)).toBe(huge.slice(0, 1000));
  expect(await beginningInSlices(redactor, 'abc', 2)).toBe('ab');
});
