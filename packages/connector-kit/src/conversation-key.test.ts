import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  channelKey,
  compatKey,
  compatSessionKey,
  deviceKey,
  emailId,
  emailKey,
  issueKey,
  parseKey,
  userKey,
} from './conversation-key.ts';

describe('conversation keys', () => {
  test.each([
    [channelKey('chatroom', 'i1', '42'), 'chatroom:i1:channel:42'],
    [userKey('messenger', 'i1', '42'), 'messenger:i1:user:42'],
    [userKey('toolserver', 'i1', 'ann'), 'toolserver:i1:user:ann'],
    [deviceKey('mobile', 'i1', 'd-9'), 'mobile:i1:device:d-9'],
    [issueKey('i1', 'acme/site', 7), 'issues:i1:repo:acme/site:issue:7'],
  ])('%s has the format of its type', (key, wanted) => {
    expect(key).toBe(wanted);
  });

  test('a compat key is a stable hash of caller and first message', () => {
    expect(compatKey('i1', 'ann', 'hi')).toMatch(/^compat:i1:[0-9a-f]{32}$/);
    expect(compatSessionKey('i1', 'ann', 'notes')).toMatch(/^compat:i1:session:[0-9a-f]{32}$/);
    expect(compatKey('i1', 'ann', 'hi')).toBe(compatKey('i1', 'ann', 'hi'));
  });

  test('two callers never share a compat key, whatever their names and messages contain', () => {
    expect(compatKey('i1', 'a', 'b:c')).not.toBe(compatKey('i1', 'a:b', 'c'));
    const text = fc.string({ unit: fc.constantFrom('a', ':', '1', '2') });
    fc.assert(
      fc.property(text, text, text, text, (identity, message, otherIdentity, otherMessage) => {
        fc.pre(identity !== otherIdentity);
        expect(compatKey('i', identity, message)).not.toBe(compatKey('i', otherIdentity, otherMessage));
        expect(compatSessionKey('i', identity, message)).not.toBe(compatSessionKey('i', otherIdentity, otherMessage));
        expect(compatKey('i', identity, message)).not.toBe(compatSessionKey('i', identity, message));
      }),
    );
  });

  test('parseKey() returns the type, the instance and the rest', () => {
    expect(parseKey('issues:i1:repo:acme/site:issue:7')).toEqual({
      type: 'issues',
      instanceId: 'i1',
      rest: 'repo:acme/site:issue:7',
    });
    expect(parseKey(compatSessionKey('i1', 'ann', 'x'))).toMatchObject({ type: 'compat', instanceId: 'i1' });
  });

  test.each(['', 'compat', 'compat:', 'compat::x', 'Compat:i1:x', ':i1:x'])('parseKey() rejects %j', (text) => {
    expect(parseKey(text)).toBeNull();
  });
});

describe('e-mail keys', () => {
  test('use the Message-ID unchanged where it is plain and short', () => {
    expect(emailId('<1@x.example>')).toBe('<1@x.example>');
    expect(emailKey('email', 'e1', '<1@x.example>')).toBe('email:e1:thread:<1@x.example>');
  });

  test('are valid and unique for any Message-ID', () => {
    const idText = fc.oneof(
      fc.string({ maxLength: 1000, unit: 'binary' }),
      fc.string().map((text) => `sha256:${text}`),
      fc.constantFrom(
        '',
        ' ',
        '\u0000',
        '\ud800',
        '\ufffd',
        '\udfff',
        'a'.repeat(200),
        'a'.repeat(201),
        emailId('a'.repeat(201)),
      ),
    );
    fc.assert(
      fc.property(idText, idText, (one, other) => {
        const id = emailId(one);
        expect(id).toMatch(/^[\u0021-\u007e]{1,200}$/);
        expect(emailKey('email', 'e1', one).length).toBeLessThanOrEqual(512);
        expect(id === emailId(other)).toBe(one === other);
      }),
    );
  });
});
