import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretMatcher } from './secret-matcher.ts';
import { createStreamPool } from './stream-pool.ts';
import { createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

const secret = 'tr0ub4dor-and-3-more';
const matcher = createSecretMatcher([secret, 'two words of it']);
const pieces = fc.constantFrom(
  secret,
  secret.slice(0, 9),
  secret.slice(9),
  'two ',
  'words\n  of it',
  '\\',
  'QUJD',
  ' ',
  'word ',
  '%74',
);

/** The input of a stream, and whether it is ended. */
const streams = fc.array(fc.record({ texts: fc.array(pieces, { maxLength: 8 }), isEnded: fc.boolean() }), { maxLength: 12 });

test('a reused stream masks like a new one, whatever state others were left in', () => {
  fc.assert(
    fc.property(streams, fc.nat(4), (all, atOnce) => {
      const open = createStreamPool(() => createStreamRedactor(matcher));
      for (let at = 0; at < all.length; at += atOnce + 1) {
        const together = all
          .slice(at, at + atOnce + 1)
          .map((plan) => ({ ...plan, lent: open(), own: createStreamRedactor(matcher) }));
        for (let step = 0; step < 8; step++) {
          for (const { texts, lent, own } of together)
            if (step < texts.length) expect(lent.push(texts[step]!)).toBe(own.push(texts[step]!));
        }
        for (const { isEnded, lent, own } of together) if (isEnded) expect(lent.end()).toBe(own.end());
      }
    }),
  );
});

test('reuses a stream only after it has ended', () => {
  let made = 0;
  const open = createStreamPool(() => {
    made++;
    return createStreamRedactor(matcher);
  });
  const [first, second] = [open(), open()];
  expect([made, first.push('tr0ub4dor'), second.push('other text '), made]).toEqual([0, '', 'other text ', 2]);
  expect(first.end()).toBe('tr0ub4dor');
  open().push('a');
  expect(made).toBe(2);
});

test('a stream that has ended does not affect the next user of it', () => {
  const open = createStreamPool(() => createStreamRedactor(matcher));
  const ended = open();
  ended.push(secret.slice(0, 9));
  ended.end();
  const other = open();
  other.push(secret.slice(0, 9));
  expect(ended.push('x')).toBe('x');
  expect(ended.end()).toBe('');
  expect(other.push(secret.slice(9)) + other.end()).toBe('[redacted:secret]');
});

test('does not reuse a stream that has failed', () => {
  const failing: StreamRedactor = {
    push: () => {
      throw new Error('half-way');
    },
    end: () => '',
  };
  let made = 0;
  const open = createStreamPool(() => (made++ === 0 ? failing : createStreamRedactor(matcher)));
  const failed = open();
  expect(() => failed.push('a')).toThrow('half-way');
  failed.end();
  expect(open().push('a ')).toBe('a ');
  expect(made).toBe(2);
});
