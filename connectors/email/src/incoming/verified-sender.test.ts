import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHeaders } from './mail-headers.ts';
import { verifiedSender } from './verified-sender.ts';

const own = 'mx.home.example';
const ar = (said: string, server = own) => `Authentication-Results: ${server}; ${said}`;
const from = 'From: Ann <ann@friend.example>';
const passing = 'dmarc=pass header.from=friend.example';
const received = 'Received: from elsewhere by mx.home.example; Mon, 23 Nov 2026 10:00:00 +0000';
const lookFrom = (hops: number, ...lines: string[]) =>
  verifiedSender(readHeaders(`${lines.join('\r\n')}\r\n\r\nhello`), { server: own, hops });
/** The given lines are above the Received line of our own server. */
const look = (...lines: string[]) => lookFrom(1, ...lines, received);

test.each([
  ['DMARC', passing],
  ['DMARC, with a policy in a comment', 'dmarc=pass (p=reject dis=none) header.from=friend.example'],
  ['a signature of the same domain', 'dkim=pass header.d=friend.example header.s=k1'],
  ['a signature by its identity', 'dmarc=none; dkim=pass header.i=@friend.example header.d=friend.example'],
  ['the right of its server', 'spf=pass smtp.mailfrom=bounce@friend.example'],
  ['a domain in capitals', 'dmarc=pass header.from=Friend.Example'],
])('accepts the result of our own server: %s', (_name, said) => {
  expect(look(ar(said), from)).toEqual({ address: 'ann@friend.example', why: null });
});

/** Each claims to be ann@friend.example, or resembles it. */
const spoofed: [string, string[]][] = [
  ['nothing is said', [from]],
  ['another server says it', [ar(passing, 'mx.evil.example'), from]],
  ['another server whose name ends like the own', [ar(passing, 'evil.mx.home.example'), from]],
  ['another server whose name begins like the own', [ar(passing, 'mx.home.example.evil.example'), from]],
  ['the own name in a comment', [ar(passing, 'evil.example (mx.home.example)'), from]],
  ['the own name as a value', [ar(`${passing} policy.x=mx.home.example`, 'evil.example'), from]],
  ['a header of its own below', [ar('dmarc=fail header.from=friend.example'), ar(passing), from]],
  ['a header of its own below one that cannot be read', [ar('dmarc=fail ((('), ar(passing), from]],
  ['DMARC fails beside a signature', [ar('dmarc=fail header.from=friend.example; dkim=pass header.d=friend.example'), from]],
  ['DMARC twice', [ar(`dmarc=fail header.from=friend.example; ${passing}`), from]],
  ['DMARC of another domain', [ar('dmarc=pass header.from=evil.example'), from]],
  ['DMARC of a domain below', [ar('dmarc=pass header.from=friend.example.evil.example'), from]],
  ['DMARC of no domain', [ar('dmarc=pass'), from]],
  ['a domain named twice', [ar('dmarc=pass header.from=evil.example header.from=friend.example'), from]],
  ['a result in a comment', [ar('dmarc=fail (dmarc=pass header.from=friend.example) header.from=friend.example'), from]],
  [
    'a result in a quoted text',
    [ar('dmarc=fail reason="x; dmarc=pass header.from=friend.example" header.from=friend.example'), from],
  ],
  ['a signature of another domain', [ar('dkim=pass header.d=evil.example'), from]],
  ['a signature of the top domain', [ar('dkim=pass header.d=example'), from]],
  ['an identity without its domain', [ar('dkim=pass header.i=@friend.example header.d=evil.example'), from]],
  ['a server of another domain', [ar('spf=pass smtp.mailfrom=x@evil.example'), from]],
  ['a greeting of the domain', [ar('spf=pass smtp.helo=friend.example'), from]],
  ['a soft failure', [ar('spf=softfail smtp.mailfrom=friend.example'), from]],
  ['none', [ar('none'), from]],
  ['another version of the header', [`Authentication-Results: ${own} 2; ${passing}`, from]],
  ['two From fields', [ar(passing), from, 'From: x@evil.example']],
  ['two addresses in From', [ar(passing), 'From: x@evil.example, ann@friend.example']],
  ['a group in From', [ar(passing), 'From: Friends: ann@friend.example;']],
  ['the address as display name', [ar('dmarc=pass header.from=evil.example'), 'From: "ann@friend.example" <x@evil.example>']],
  ['a look-alike letter', [ar('dmarc=pass header.from=friend.example'), 'From: Ann <аnn@friend.example>']],
  ['a look-alike domain', [ar('dmarc=pass header.from=frıend.example'), 'From: Ann <ann@frıend.example>']],
  ['a domain that reads alike in code', [ar('dmarc=pass header.from=xn--frend-m4a.example'), 'From: ann@xn--frend-m4a.example']],
  ['a header in the body', [from, '', ar(passing)]],
];

test.each(spoofed)('rejects a spoofed mail: %s', (_name, lines) => {
  const { address, why } = look(...lines);
  expect(address === 'ann@friend.example' && why === null).toBe(false);
});

test('verifies no one without the name of our own server', () => {
  const headers = readHeaders(`${ar(passing)}\r\n${received}\r\n${from}\r\n\r\n`);
  expect(verifiedSender(headers, { server: '', hops: 1 }).why).not.toBeNull();
});

test('does not throw on any header, and never trusts another server', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      '(',
      ')',
      '"',
      ';',
      '=',
      ' ',
      '\\',
      ',',
      '<',
      '>',
      '@',
      ':',
      'dmarc=pass',
      'header.from=friend.example',
      'x',
    ),
    maxLength: 60,
  });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = look(`Authentication-Results: evil.example ${before}; ${passing} ${after}`, from);
      expect(found.why).not.toBeNull();
    }),
  );
});

test('ignores results where a sender could have written them', () => {
  expect(lookFrom(1, received, ar(passing), from).why).not.toBeNull();
  expect(lookFrom(1, received, ar(passing), received, from).why).not.toBeNull();
  expect(lookFrom(1, ar(passing), from).why).not.toBeNull();
});

test('with two own servers, either position is accepted', () => {
  expect(lookFrom(2, received, ar(passing), received, from).why).toBeNull();
  expect(lookFrom(2, received, received, ar(passing), from).why).not.toBeNull();
  expect(lookFrom(2, ar(passing), received, from).why).not.toBeNull();
});

test('with place "below", only the topmost result below Received counts', () => {
  const below = (...lines: string[]) =>
    verifiedSender(readHeaders(`${lines.join('\r\n')}\r\n\r\nhello`), { server: own, hops: 2, place: 'below' }).why;
  expect(below(received, received, ar(passing), from)).toBeNull();
  expect(below(received, received, ar(passing), received, from)).toBeNull();
  expect(below(received, received, ar('dmarc=fail header.from=friend.example'), ar(passing), from)).not.toBeNull();
  expect(below(received, received, received, ar(passing), from)).not.toBeNull();
  expect(below(received, ar(passing), from)).not.toBeNull();
});

test('names the received_hops setting when the result is where a sender could write it', () => {
  expect(lookFrom(1, received, ar(passing), from).why).toContain('received_hops');
  expect(lookFrom(1, received, from).why).not.toContain('received_hops');
});
