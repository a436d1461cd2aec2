import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGrowingMatcher } from './growing-matcher.ts';
import { redactorOf } from './redactor.ts';
import { buildSecretMatcher } from './secret-matcher.ts';
import { secretPatterns } from './secret-patterns.ts';

const made = (count: number, length = 24): string[] =>
  Array.from({ length: count }, () => randomBytes(length).toString('base64url').slice(0, length));

const fail = (message: string): never => {
  throw new Error(message);
};

const growingFrom = (first: readonly string[]) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const growing = createGrowingMatcher(resolve, fail);
  growing.set(new Set(first));
  return {
    growing,
    built: promise,
    known: (text: string) => redactorOf(growing.matchers(), { edition: Symbol('test') }).known(text),
  };
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const twice = (text: string): string => base64(`<${base64(text)}>`);

test('knows every form of the first values at once', () => {
  const values = made(50);
  const { growing, known } = growingFrom(values);
  expect(growing.matchers()).toHaveLength(1);
  for (const value of values) expect(known(twice(value))).toContain('[redacted:secret]');
});

test('masks one new value in every form at once, while the automaton of all is built', async () => {
  const first = made(50);
  const { growing, known, built } = growingFrom(first);
  const [added] = made(1) as [string];
  growing.set(new Set([...first, added]));
  expect(growing.matchers()).toHaveLength(2);
  for (const form of [added, base64(added), twice(added), twice(first[0]!)]) expect(known(form)).toContain('[redacted:secret]');
  await built;
  expect(growing.matchers()).toHaveLength(1);
  for (const value of [...first, added]) expect(known(twice(value))).toContain('[redacted:secret]');
});

test('masks many new values at once in every single encoding, also long ones', async () => {
  const first = made(1);
  const { growing, known, built } = growingFrom(first);
  const added = [...made(60), ...made(3, 3000)];
  growing.set(new Set([...first, ...added]));
  for (const value of added) {
    expect(known(`<${value}>`)).toBe('<[redacted:secret]>');
    expect(known(`<${Buffer.from(value).toString('hex')}>`)).toBe('<[redacted:secret]>');
    expect(known(JSON.stringify([...Buffer.from(value)])).length).toBeLessThan(30);
    expect(known(`<${base64(value)}>`).length).toBeLessThan(30);
  }
  await built;
  for (const value of added) expect(known(twice(value))).toContain('[redacted:secret]');
});

test('masks values that arrive during a build at once, and builds them afterwards', async () => {
  const [one, ...rest] = made(40) as [string, ...string[]];
  const { growing, known, built } = growingFrom([one]);
  for (let count = 1; count <= rest.length; count++) {
    growing.set(new Set([one, ...rest.slice(0, count)]));
    expect(known(rest[count - 1]!)).toBe('[redacted:secret]');
    if (count % 10 === 0) await nextTurn();
  }
  await built;
  for (const value of [one, ...rest]) expect(known(twice(value))).toContain('[redacted:secret]');
});

test('builds values that arrive right after a build', async () => {
  const [one, two, three] = made(3) as [string, string, string];
  const built: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const growing = createGrowingMatcher(() => {
    built.push(growing.matchers().length);
    if (built.length === 1) growing.set(new Set([one, two, three]));
    else resolve();
  }, fail);
  growing.set(new Set([one]));
  growing.set(new Set([one, two]));
  await promise;
  expect(built).toEqual([1, 1]);
});

test('ignores the same values in another order', () => {
  const values = made(2);
  const { growing } = growingFrom(values);
  expect(growing.set(new Set(values.toReversed()))).toBe(false);
});

test('builds an automaton in steps of a bounded number of nodes', () => {
  const values = made(50, 40);
  const nodes = values.flatMap(secretPatterns).reduce((sum, { text }) => sum + text.length, 0);
  let steps = 0;
  for (const steppings = buildSecretMatcher(values); steppings.next().done !== true;) steps++;
  expect(steps).toBeGreaterThan(values.length + nodes / 2500);
});
