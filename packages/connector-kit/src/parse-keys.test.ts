import { describe, expect, test } from 'vitest';
import { parseKeys } from './parse-keys.ts';

const file = (...keys: unknown[]) => JSON.stringify({ keys });

describe('parseKeys()', () => {
  test('returns the entries, with the identity as default username', () => {
    const text = file({ key: 'k1', identity: 'ann', username: 'Ann' }, { key: 'k2', identity: 'bob' });
    expect(parseKeys(text)).toEqual([
      { key: 'k1', identity: 'ann', username: 'Ann' },
      { key: 'k2', identity: 'bob', username: 'bob' },
    ]);
  });

  test.each([
    ['nothing', '', /not valid JSON/],
    ['half a file', '{"keys":[{"key":"very-secret"', /^it is not valid JSON$/],
    ['null', 'null', /must contain a list "keys"/],
    ['a list alone', '[]', /must contain a list "keys"/],
    ['an object of keys', '{"keys":{}}', /must contain a list "keys"/],
    ['keys in the prototype', '{"__proto__":{"keys":[]}}', /must contain a list "keys"/],
    ['an entry that is null', file(null), /keys\[0\]/],
    ['a blank key', file({ key: '', identity: 'ann' }), /keys\[0\]\.key/],
    ['a key of spaces', file({ key: '   ', identity: 'ann' }), /keys\[0\]\.key/],
    ['a key that is no text', file({ key: 1, identity: 'ann' }), /keys\[0\]\.key/],
    ['no identity', file({ key: 'k1' }), /keys\[0\]\.identity/],
    ['a blank identity', file({ key: 'k1', identity: ' ' }), /keys\[0\]\.identity/],
    ['a broken character', '{"keys":[{"key":"k1","identity":"a\\ud800"}]}', /keys\[0\]\.identity/],
    ['a username that is no text', file({ key: 'k1', identity: 'a', username: {} }), /keys\[0\]\.username/],
    [
      'one key of two identities',
      file({ key: 'k1', identity: 'a' }, { key: 'k1', identity: 'b' }),
      /keys\[1\] has the same key as another/,
    ],
  ])('rejects the file with %s and names the reason', (_what, text, message) => {
    expect(() => parseKeys(text)).toThrow(message);
  });

  test('never shows a key in its errors', () => {
    expect(() => parseKeys('{"keys":[{"key":"very-secret" oops')).toThrow(/^(?!.*very)/);
  });
});
