import { expect, test } from 'vitest';
import { calibrateCost, newSalt, passphraseKey } from './passphrase-key.ts';

const cheap = { memory: 8, passes: 1, parallelism: 1, salt: newSalt() };

test('derives the same key from equivalent spellings, and another one with another salt', async () => {
  const [composed, decomposed] = ['caf\u00E9 cr\u00E8me', 'cafe\u0301 cre\u0300me'];
  const key = await passphraseKey(composed, cheap);
  expect(key).toHaveLength(32);
  expect(await passphraseKey(decomposed, cheap)).toEqual(key);
  expect(await passphraseKey(composed, { ...cheap, salt: newSalt() })).not.toEqual(key);
});

test.each([
  ['as many passes as cost enough', 100, 12],
  ['never fewer than three', 10_000, 3],
  ['never more than a slow disk of a clock can make it', 0, 64],
])('V02: takes %s', async (_, tookMs, passes) => {
  const times = [1000, 1000 + tookMs];
  expect(await calibrateCost(() => times.shift() ?? 0)).toEqual({ memory: 131_072, passes, parallelism: 1 });
});

test('V02: costs at least 250 ms on this machine', async () => {
  const cost = await calibrateCost();
  const begun = performance.now();
  await passphraseKey('a passphrase', { ...cost, salt: newSalt() });
  expect(performance.now() - begun).toBeGreaterThan(250);
});
