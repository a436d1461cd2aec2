import { describe, expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';

const base = createRedactor([]);
const token = 'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8';

describe('redacting twice', () => {
  test.each([
    ['api_key = "https://joe:p4ssw0rd@host.example/xpassword="Tr0ub4dor&3"'],
    [`${token}api_key = "password="Tr0ub4dor&3"`],
    ['[redacted:token] = "password="Tr0ub4dor&3"'],
    ['/home/joe/xapi_key = "password="Tr0ub4dor&3"'],
    [`api_key = "${token}![a](https://x.example/?q=abcdefabcdefabcdefabcdef)password="Tr0ub4dor&3"`],
    [`!${token}(\\`],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3Jm9xY2Z5d0tLc3VwZXJzZWNyZXRrZXltYXRlcmlhbDEyMzQ1Njc4OTAghp_joe@mail.org',
    ],
  ])('changes nothing more in %s', (text) => {
    for (const redactor of [base, base.forPublic]) {
      const once = redactor.text(text);
      expect(redactor.text(once)).toBe(once);
      expect(once).not.toMatch(/Tr0ub4dor|A1b2C3d4/);
    }
  });
});

/** Texts that keep a place open for longer than is held back. */
const openers: readonly [name: string, of: (length: number) => string][] = [
  ['a Kubernetes secret', (length) => `kind: Secret\n${'word '.repeat(300)}`.repeat(4).slice(0, length)],
  ['a line of cookies', (length) => `cookie: a=1;${'b=2; '.repeat(900)}`.slice(0, length)],
  ['images', (length) => '![](x)'.repeat(1000).slice(0, length)],
];

describe.each(openers)('secret after %s', (_name, open) => {
  test.each([
    [` ${token} `, 'A1b2C3d4'],
    [' password = "Tr0ub4dor&3" ', 'Tr0ub'],
    ['\nauthorization: Bearer abcDEF1234567890xyz\n', 'abcDEF123'],
    ['\ncookie: a=1; b=2; sid=abcdef1234567890; x=1\n', 'abcdef1234567890'],
    [' https://joe:p4ssw0rd@host.example/x ', 'p4ssw0rd'],
  ])('is masked wherever the place is cut: %j', (secret, mark) => {
    for (let length = 4030; length < 4110; length++) {
      expect(base.forPublic.text(`${open(length)}${secret}and more of it\n`)).not.toContain(mark);
    }
  });
});
