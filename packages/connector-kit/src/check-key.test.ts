import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { checkKey, singleKeyAuth } from './check-key.ts';
import type { Exchange } from './http/exchange.ts';
import type { KeysFile } from './keys-file.ts';
import { createThrottle } from './throttle.ts';

const longKey = 'k'.repeat(40);
const shortKey = 'short-key';
const ann = { identity: 'ann', username: 'Ann' };

function setUp() {
  const looked: string[] = [];
  const file: { problem: string | null } = { problem: null };
  const keys: KeysFile = {
    find: (key) => (looked.push(key), file.problem === null && (key === longKey || key === shortKey) ? ann : null),
    problem: () => file.problem,
  };
  const clock = createFakeClock();
  const throttle = createThrottle(clock);
  const check = (authorization: string | undefined, remote = '127.0.0.1') =>
    checkKey({ req: { headers: { authorization } }, remote } as Exchange, keys, throttle);
  return { check, clock, looked, file };
}
const code = (work: () => unknown): string => {
  try {
    work();
    return 'in';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('checkKey()', () => {
  test.each([
    [`Bearer ${longKey}`, 'in'],
    [`bearer  ${longKey} `, 'in'],
    [undefined, 'unauthorized'],
    ['', 'unauthorized'],
    ['Bearer', 'unauthorized'],
    ['Bearer ', 'unauthorized'],
    [`Basic ${longKey}`, 'unauthorized'],
    [`Bearer ${longKey} x`, 'unauthorized'],
    [`Bearer ${longKey}x`, 'unauthorized'],
    ['Bearer schl\u00fcssel', 'unauthorized'],
  ])('%j is %s', (header, wanted) => {
    expect(code(() => setUp().check(header))).toBe(wanted);
  });

  test('rejects further keys as busy after 20 bad ones from an address, with the time to wait', () => {
    const { check, clock } = setUp();
    const codes = Array.from({ length: 1_000 }, (_, i) => code(() => check(`Bearer bad-${i}`)));
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('unauthorized'));
    expect(new Set(codes.slice(20))).toEqual(new Set(['busy']));
    expect(() => check('Bearer bad')).toThrow(expect.objectContaining({ details: { retry_after_s: 60 } }));
    clock.advance(60_000);
    expect(code(() => check('Bearer bad'))).toBe('unauthorized');
  });

  test('reports unavailable while the keys file is invalid, and counts no key as a guess', () => {
    const { check, file } = setUp();
    file.problem = 'The keys file lets nobody in: it is not valid JSON.';
    const codes = Array.from({ length: 100 }, () => code(() => check(`Bearer ${shortKey}`)));
    expect(new Set(codes)).toEqual(new Set(['unavailable']));
    expect(code(() => check(undefined))).toBe('unauthorized');
    file.problem = null;
    expect(code(() => check(`Bearer ${shortKey}`))).toBe('in');
  });

  test('does not look up short keys past the limit, so that guessing gains nothing', () => {
    const { check, looked } = setUp();
    for (let i = 0; i < 21; i++) code(() => check(`Bearer bad-${i}`));
    expect(code(() => check(`Bearer ${shortKey}`))).toBe('busy');
    expect(looked).not.toContain(shortKey);
  });

  test('accepts a long key during a flood of bad ones from the same address', () => {
    const { check } = setUp();
    for (let i = 0; i < 1_000; i++) code(() => check(`Bearer bad-${i}`));
    expect(check(`Bearer ${longKey}`)).toEqual(ann);
  });

  test('a flood from one address does not affect another', () => {
    const { check } = setUp();
    for (let i = 0; i < 100; i++) code(() => check(`Bearer bad-${i}`, '10.0.0.1'));
    expect(check(`Bearer ${shortKey}`, '10.0.0.2')).toEqual(ann);
  });
});

test.each([
  ['secret', 'secret', ann],
  ['secret', 'secre', null],
  ['secret', 'secrets', null],
  ['secret', '', null],
  // As Node passes the bytes of a header.
  ['schlüssel', Buffer.from('schlüssel').toString('latin1'), ann],
])('with the key %j, singleKeyAuth() resolves %j to %j', (value, key, caller) => {
  expect(singleKeyAuth(value, ann).find(key)).toBe(caller);
});
