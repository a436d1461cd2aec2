import { describe, expect, test } from 'vitest';
import { explicitAssignment, genericAssignment } from './assignment-rules.ts';
import { prefixRules } from './prefix-rules.ts';
import { publicRules } from './public-rules.ts';
import { structureRules } from './structure-rules.ts';
import { readVendorRules } from './vendor-rules.ts';

const { generic } = readVendorRules();
const rules = [
  ...structureRules,
  ...prefixRules,
  ...publicRules,
  explicitAssignment,
  genericAssignment(generic, true),
  genericAssignment(generic, false),
];

/** The secrets that a rule finds in a text, without keywords. */
const found = (id: string, text: string): string[] => {
  const rule = rules.find((each) => each.id === id);
  if (rule === undefined) throw new Error(`there is no rule ${id}`);
  return rule.find(text).map(({ from, to }) => text.slice(from, to));
};

/** 32 random bytes, as the service writes them after a prefix. */
const own = 'nitoLnv46EzCFrhz9SmYmiaF9cUiI4FtVt_jzRCB-kY';

describe('secrets that a rule finds', () => {
  test.each([
    ['jwt', 'a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0 b', ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0']],
    ['url-password', 'https://a:s3cr3t-1@x.io ftp://b:s3cr3t-2@[::1]', ['s3cr3t-1', 's3cr3t-2']],
    ['url-password', 'https://me:admin@x.io', ['admin']], // in a web address, such a word can be the real one
    ['url-password', 'redis://:s3cr3t-1@x.io', ['s3cr3t-1']],
    ['url-token', 'https://0123456789abcdef:@x.io', ['0123456789abcdef']],
    ['authorization', 'Authorization: Bearer abcDEFghiJKLmnoPQR', ['abcDEFghiJKLmnoPQR']],
    ['authorization', '"authorization": "A1b2C3d4E5f6G7h8I9j0"', ['A1b2C3d4E5f6G7h8I9j0']],
    ['bearer', 'curl -H bearer A1b2C3d4E5f6G7h8', ['A1b2C3d4E5f6G7h8']],
    ['cookie', 'Cookie: a=1; sid=A1b2C3d4; b=A1b2C3d4E5f6G7h8', ['A1b2C3d4', 'A1b2C3d4E5f6G7h8']],
    ['curl-user', 'curl -u joe:s3cr3t --user "ann:s3cr4t"', ['s3cr3t', 's3cr4t']],
    [
      'kubernetes-secret',
      '  a: dGhpcyBpcyBzZWNyZXQ=\n  "b": "dGhpcyBpcyBzZWNyZXQ="\n',
      ['dGhpcyBpcyBzZWNyZXQ=', 'dGhpcyBpcyBzZWNyZXQ='],
    ],
    ['explicit-assignment', 'db_password: "Tr0ub4dor"', ['Tr0ub4dor']],
    ['explicit-assignment', 'DB_PASSWORD=Tr0ub4dor', ['Tr0ub4dor']],
    ['explicit-assignment', 'token = "A1b2C3d4E5f6G7h8"', ['A1b2C3d4E5f6G7h8']],
    ['generic-explicit', 'api_key = A1b2C3d4E5f6G7h8I9j0 ', ['A1b2C3d4E5f6G7h8I9j0']],
    ['generic', 'auth = A1b2C3d4E5f6G7h8I9j0 ', ['A1b2C3d4E5f6G7h8I9j0']],
    ['aws-account-id', 'aws_account_id: 123456789012', ['123456789012']],
    ['groq-form', `(gsk_${'aB3d'.repeat(13)})`, [`gsk_${'aB3d'.repeat(13)}`]],
    [
      'own-form',
      `svcd_${own}, http://localhost:3020/setup#svcl_${own}, "sk-svc-${own}" vagent_${own} vadmin_${own}. vtoken_${own}\n`,
      ['svcd_', 'svcl_', 'sk-svc-', 'vagent_', 'vadmin_', 'vtoken_'].map((prefix) => prefix + own),
    ],
    ['international-phone', '+1 2345678 and +123456789012345', ['+1 2345678', '+123456789012345']],
    ['card', '4111 1111 1111 1111, 5500005555555559', ['4111 1111 1111 1111', '5500005555555559']],
    ['private-address-6', 'fd12::1, fe80:0:0:0:1:2:3:4', ['fd12::1', 'fe80:0:0:0:1:2:3:4']],
    ['data-in-link', 'https://x.io/a?q=0123456789abcdef0', ['q=0123456789abcdef0']],
    ['data-in-link', `https://x.io/a#${'a-b-'.repeat(24)}`, ['a-b-'.repeat(24)]],
    ['email', 'a.b+c@acme.io', ['a.b+c@acme.io']],
    ['internal-host', 'nas.local, a.b.internal:80', ['nas.local', 'a.b.internal:80']],
    ['home-path', '/home/joe/a, /root/x', ['/home/joe/a', '/root/x']],
  ])('%s in %j', (id, text, secrets) => expect(found(id, text)).toEqual(secrets));
});

describe('text that a rule ignores', () => {
  test.each([
    ['jwt', 'eyJhbGciOiJIUzIAbcdefgh.eyJzdWIiOiIxMjMabcdef'.replaceAll(/\d/g, 'x')],
    ['url-password', 'postgres://me:secret@x.io'],
    ['url-password', 'https://me:abc@x.io and https://joe:joe@x.io'],
    ['url-password', 'https://me:$PASSWORD@x.io https://me:your_password@x.io https://me:xxxxx@x.io https://a:password@x.io'],
    ['url-password', 'https://0123456789abcdef:x-oauth-basic@x.io'],
    ['url-token', 'https://0123456789abcdef:s3cr3t@x.io https://your-token-is-here:@x.io'],
    ['url-parameter', 'https://x.io/?token=abcdefghijklmnop&key=your-key-goes-here-1'],
    ['connection-string', ';Password=changeme; ;pwd=<password>;'],
    ['authorization', 'authorization: abcdefgh-ijklmnop'],
    ['authorization', 'Authorization: Bearer yourtokenhere'],
    ['bearer', 'a bearer abcdefghijklmnopqrst'],
    ['cookie', 'Cookie: theme=A1b2C3d4; lang=abcdefghijklmnopqrst'],
    ['curl-user', 'curl -u me:me -u a:$PASSWORD -u b:xx'],
    ['kubernetes-secret', '  name: mysecretname\n  kind: AbcdefghIjkl\n'],
    ['explicit-assignment', 'password_hash = "A1b2C3d4E5f6G7h8", token = "a1.b2.c3.d4e5f6g7"'],
    ['explicit-assignment', 'token = "A1b2C3d4"'], // too short for anything but a password
    ['generic-explicit', 'auth = A1b2C3d4E5f6G7h8I9j0 '],
    ['generic', 'auth_hash = A1b2C3d4E5f6G7h8I9j0 '],
    ['generic', 'auth = 5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f '],
    ['generic', 'auth = your-A1b2C3d4E5f6G7h8I9j0 '],
    ['groq-form', `xgsk_${'aB3d'.repeat(13)} gsk_${'aB3d'.repeat(14)}`],
    ['own-form', `svcd_${'x'.repeat(43)} sk-svc-${own.slice(1)} vtoken_${own}a "svcd_<token>"`],
    ['international-phone', '+12 345'],
    ['card', '4111 1111 1111 1112, 1111111111111117, 9500005555555555'],
    ['private-address-6', 'fd12:1:2'],
    ['data-in-link', 'https://x.io/a?page=2&sort=name#part-one'],
    ['email', 'a@example.org, icon@2x.png, a@b.test'],
    ['email', '服务@张三.谢谢, Привет@Иван, é@2x.png, ünal@müller.example'],
    ['email', 'https://joe:guest@acme.io, ssh://git:x@acme.io'],
    ['internal-host', 'this.local window.internal a@nas.local'],
    ['home-path', '/home/user/x /Users/you/x'],
  ])('%s in %j', (id, text) => expect(found(id, text)).toEqual([]));
});

test('finds a match within a rejected one', () => {
  expect(found('url-password', 'https://a:b:https://c:s3cr3t@x.io')).toEqual(['s3cr3t']);
});
