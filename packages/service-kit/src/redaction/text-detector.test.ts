import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { createRedactor } from './redactor.ts';

/** In mutation tests, the examples do most of the work. */
const isBrief = process.env['TEST_MUTANTS'] === '1';
const isDeep = process.env['TEST_DEEP'] === '1';
/** Only the deep run uses new random texts; other runs use a fixed seed, so that a failure is due to the change. */
const seed = 20_261_122;
const runs = isBrief ? 40 : 1500;
const base = createRedactor(['zq9-known-secret-77', 'another one, of words']);
const mask = (text: string) => base.text(text);
const keyBody = 'MIIEpAIBAAKCAQEA7bq3Jm9xY2Z5d0tLc3VwZXJzZWNyZXRrZXltYXRlcmlhbDEyMzQ1Njc4OTA';

describe('structures', () => {
  test.each([
    ['a password in an address', 'ftp://joe:s3cr3t-Pa@files.acme.io/x', 'ftp://joe:[redacted:password]@files.acme.io/x'],
    ['a password with spaces', 'postgres://joe:my pass word@db.acme.io/x', 'postgres://joe:[redacted:password]@db.acme.io/x'],
    ['a password with spaces and no user', 'redis://:my secret pw@cache.io', 'redis://:[redacted:password]@cache.io'],
    ['a password with quotes', `mysql://joe:it's "so" 1@db/x`, 'mysql://joe:[redacted:password]@db/x'],
    ['a password beyond ASCII', 'https://joe:pässwört日本@files.acme.io', 'https://joe:[redacted:password]@files.acme.io'],
    ['a password with brackets', 'ftp://joe:a(b)<c>;d@files.acme.io', 'ftp://joe:[redacted:password]@files.acme.io'],
    ['a password without a scheme', 'fetch("//joe:s3cr3t-Pa@cdn.acme.io/x")', 'fetch("//joe:[redacted:password]@cdn.acme.io/x")'],
    ['a JWT', 'it is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEF123456 here', 'it is [redacted:token] here'],
    ['an Authorization header', 'Authorization: Bearer abcDEF1234567890xyz', 'Authorization: Bearer [redacted:credential]'],
    ['basic credentials', 'authorization: Basic dXNlcjpwYXNzd29yZA==', 'authorization: Basic [redacted:credential]'],
    ['a cookie', 'Cookie: sid=abcdef1234567890; theme=dark', 'Cookie: sid=[redacted:cookie]; theme=dark'],
    [
      'a token in an address',
      'git+https://1a2b3c4d5e6f7a8b9c0d:x-oauth-basic@github.com/a/b',
      'git+https://[redacted:token]:x-oauth-basic@github.com/a/b',
    ],
    ['a token of a registry', '//npm.acme.io/:_authToken=111111aaaaaaaaaaaaaa', '//npm.acme.io/:_authToken=[redacted:token]'],
    [
      'a token as a parameter of an address',
      'GET https://api.acme.io/v1?access_token=A1b2C3d4E5f6G7h8I9j0&x=1 failed',
      'GET https://api.acme.io/v1?access_token=[redacted:credential]&x=1 failed',
    ],
    ['a connection string', 'Server=db;User Id=sa;Password=Tr0ub4dor&3;', 'Server=db;User Id=sa;Password=[redacted:password];'],
    ['a storage key', `AccountKey=${'aB3d'.repeat(21)}Q==`, 'AccountKey=[redacted:password]'],
    ['credentials of curl', 'curl -u joe:s3cr3t-Pa https://x.io', 'curl -u joe:[redacted:password] https://x.io'],
    ['a password', 'password: "Tr0ub4dor&3"', 'password: "[redacted:credential]"'],
    ['a password with list signs', 'password = "Tr0ub4dor&3,[x]9;"', 'password = "[redacted:credential]"'],
    ['a password beyond ASCII in quotes', "password: 'Trö0b4dor3'", "password: '[redacted:credential]'"],
    ['a short password', 'password = "a1B2c3"', 'password = "[redacted:credential]"'],
    ['a variable', 'export DB_PASSWORD=Tr0ub4dor&3', 'export DB_PASSWORD=[redacted:credential]'],
    ['an API key', 'api_key = "A1b2C3d4E5f6G7h8I9j0"', 'api_key = "[redacted:credential]"'],
    ['a token without a scheme', 'authorization = "A1b2C3d4E5f6G7h8I9j0"', 'authorization = "[redacted:credential]"'],
    ['a scheme with letters alone', 'Authorization: Bearer abcDEFghiJKLmnoPQR', 'Authorization: Bearer [redacted:credential]'],
    ['a token of a command', 'the bearer abcDEF1234567890xyz is', 'the bearer [redacted:credential] is'],
    ['an account', '"AWS_ACCOUNT_ID"=>1234-5678-9012', '"AWS_ACCOUNT_ID"=>[redacted:credential]'],
    ['a token within a word', 'xshpat_0123456789abcdef0123456789abcdef', 'xshpat[redacted:token]'],
    ['a vendor token', 'use ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8.', 'use [redacted:token].'],
    [
      'data of a Secret',
      'kind: Secret\ndata:\n  pass: MWYyZDFlMmU2N2Rm\n',
      'kind: Secret\ndata:\n  pass: [redacted:credential]\n',
    ],
    [
      'a key',
      `-----BEGIN PRIVATE KEY-----\n${keyBody}\n-----END PRIVATE KEY-----.`,
      '-----BEGIN PRIVATE KEY-----[redacted:private-key]-----END PRIVATE KEY-----.',
    ],
    [
      'a key in JSON',
      `"-----BEGIN PRIVATE KEY-----\\n${keyBody}\\n-----END PRIVATE KEY-----\\n"`,
      '"-----BEGIN PRIVATE KEY-----[redacted:private-key]-----END PRIVATE KEY-----\\n"',
    ],
    [
      'a key with headers',
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${keyBody}`,
      '-----BEGIN RSA PRIVATE KEY-----[redacted:private-key]',
    ],
    [
      'a key without an end',
      `-----BEGIN RSA PRIVATE KEY-----\n${keyBody} and more`,
      '-----BEGIN RSA PRIVATE KEY-----[redacted:private-key] and more',
    ],
    [
      'the beginning of a key that ends with its line',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAA\n',
      '-----BEGIN RSA PRIVATE KEY-----[redacted:private-key]\n',
    ],
    [
      'the beginning of a key',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB',
      '-----BEGIN RSA PRIVATE KEY-----[redacted:private-key]',
    ],
  ])('masks %s', (_name, text, masked) => expect(mask(text)).toBe(masked));

  test.each([
    'postgres://user:${PASSWORD}@db/x and https://joe:password@example.com',
    'Authorization: Bearer <token>, or Bearer ${token}',
    'const password = process.env.PASSWORD ?? readPassword(file);',
    'The key thing, however: tokens and secrets are words.',
    '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
    `text.includes('-----BEGIN PRIVATE KEY-----') // checks`,
    'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b and token_id: 5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f',
    '"integrity": "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08=="',
    `![x](data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUg'.repeat(2000)})`,
    'curl -u user:$PASSWORD x; key=[redacted:token]',
    'API_KEY=your-api-key-here-1234567890',
    'mysql://admin:secret@db.acme.net and mysql://mysql:mysql@localhost',
    'Server=db;Password=<password>;',
    'secret_hash = "A1b2C3d4E5f6G7h8I9j0", token_id: "A1b2C3d4E5f6G7h8I9j0"',
    'kind: Secret\nmetadata:\n  name: mysecretname\n',
    'api_key = "[redacted:secret]" and https://joe:[redacted:password]@files.acme.io',
    'api_token = "5f2b6c1e-8a3d-4c59-9d1e-0a7b3c4d5e6f"',
    '-----BEGIN PRIVATE KEY-----                                                   MIIE',
    '-----BEGIN PRIVATE KEY-----\nabc-def',
    'the words private key----- alone',
    'token: "<your-token-1>", secret: "{{ vault.db_1 }}", password: "[from step 2]"',
    'const [key] = "a,b;c", tokens = ["a", "b1"], secrets = { "x": [1, 2] };',
    'see https://example.com: it says that bob@example.com wrote it',
    'http://localhost:3000 is up, write to bob@example.com',
    'https://docs.acme.io:8443 and mail@acme.io, or http://db:5432 (ask joe@acme.io)',
    '// note: mail joe@acme.io; //TODO:fix it@home',
    'redis://cache:6379 holds it, says "joe@acme.io"',
    'password = getPassword(a1)(b2)',
    '//npm.acme.io/:_authToken=${NPM_TOKEN}',
    'https://api.acme.io/v1?token=<your-token-here-123>&page_token=second-page',
    'https://your-token-goes-here:x-oauth-basic@github.com/a/b',
  ])('keeps: %.60s', (text) => expect(mask(text)).toBe(text));
});

describe('public rules', () => {
  test.each([
    ['mail', 'write to joe.smith@acme.io.', 'write to [redacted:email].'],
    ['mail with digits', 'bob1983x@acme.io, j.1smith@acme.io', '[redacted:email], [redacted:email]'],
    ['mail in a link', '[Joe](mailto:joe@acme.io)', '[Joe](mailto:[redacted:email])'],
    ['mail right behind a word', 'E-Mail:joe@acme.io', 'E-Mail:[redacted:email]'],
    ['mail with accents', 'an josé@exámple.es, müller@acme.io', 'an [redacted:email], [redacted:email]'],
    ['mail with accents in two characters', 'an jose\u0301@acme.io', 'an [redacted:email]'],
    ['mail in Cyrillic', 'пишите на иван@почта.рф.', 'пишите на [redacted:email].'],
    ['mail in Chinese', '请写信给joe@acme.io谢谢', '请写信给[redacted:email]谢谢'],
    ['mail with a tag', 'write to bob+news@acme.io', 'write to [redacted:email]'],
    ['mail in Arabic and Hindi', 'محمد٢@شركة.مصر أو राम@उदाहरण.भारत', '[redacted:email] أو [redacted:email]'],
    ['mail all in Chinese', '请写信给服务@张三.中国谢谢', '[redacted:email]谢谢'],
    ['mail behind a long clause', `${'一'.repeat(70)}@例子.公司。`, `${'一'.repeat(6)}[redacted:email]。`],
    ['mail in Japanese', '連絡は、山田.太郎@例え.みんなに', '連絡は、[redacted:email]に'],
    ['mail in Korean', '김철수@회사.한국으로 보내', '[redacted:email]으로 보내'],
    ['mail in Thai', 'สมชาย@ตัวอย่าง.ไทย', '[redacted:email]'],
    ['mail with digits in it', 'a1é@acme.io, 王1985李@例子.中国', '[redacted:email], [redacted:email]'],
    ['mail in full width', '联系ｊｏｅ＠ａｃｍｅ．ｃｏｍ，joe＠acme.io。', '[redacted:email]，[redacted:email]。'],
    ['mail at a written-out host', 'joe@xn--e1aybc.xn--p1ai', '[redacted:email]'],
    ['quoted mail', 'to "joe smith"@acme.io.', 'to [redacted:email].'],
    ['quoted mail behind quotes', 'a 5" pipe, "so", says "joe 1985 x"@acme.io', 'a 5" pipe, "so", says [redacted:email]'],
    ['quoted mail right behind digits', '10.0.0.7:"joe smith"@mail.org', '[redacted:ip]:[redacted:email]'],
    ['quoted mail with a quote in it', '<"joe \\"x\\" smith"@acme.io>', '<[redacted:email]>'],
    ['quoted mail in JSON', '{"to":"by \\"joe smith\\"@acme.io now"}', '{"to":"by \\"[redacted:email] now"}'],
    ['mail right behind a path', '/home/joe/x服务@例子.中国', '[redacted:path][redacted:email]'],
    ['a host with digits', 'web01x.prod.local:80', '[redacted:host]'],
    ['a number that does not break', '+33\u00A06\u202F12\u201134\u201356\u00A078', '[redacted:phone]'],
    ['a card that does not break', '4111\u00A01111\u00A01111\u00A01111', '[redacted:card]'],
    ['phone', 'call +49 170 1234567 now', 'call [redacted:phone] now'],
    ['national phone', 'call (555) 123-4567 now', 'call [redacted:phone] now'],
    ['card', 'card 4111 1111 1111 1111 ok', 'card [redacted:card] ok'],
    ['private address', 'at 192.168.1.20 and 10.0.0.7:8080', 'at [redacted:ip] and [redacted:ip]'],
    ['carrier address', 'at 100.64.3.4', 'at [redacted:ip]'],
    ['local IPv6', 'at fd12:3456::1 here', 'at [redacted:ip] here'],
    ['internal host', 'see http://nas.local:8080/x and db.corp.internal', 'see http://[redacted:host]/x and [redacted:host]'],
    ['internal port', 'on localhost:3023', 'on [redacted:host]'],
    ['home path', 'in /home/joe/notes/a.md there', 'in [redacted:path] there'],
    ['Windows home', 'in C:\\Users\\Joanna\\a.txt', 'in C:\\Users\\[redacted:path]\\a.txt'],
    ['remote image', '![a](https://x.example/?q=abcdef)', '![a]([redacted:link])'],
    ['image tag', '<img src="https://x.example/a.png">', '<img src="[redacted:link]">'],
    ['link with data', '[a](https://x.example/p?q=aGVsbG8gd29ybGQgb2Y)', '[a](https://x.example/p?[redacted:data])'],
  ])('mask %s in public only', (_name, text, masked) => {
    expect(base.forPublic.text(text)).toBe(masked);
    expect(base.text(text)).toBe(text);
  });

  test.each([
    'see 8.8.8.8 and 1.2.3',
    'on 2026-11-21 at 10:30',
    'a@example.com',
    '[a](https://docs.example/page#part)',
    'this.local = 1',
    '/home/user/x',
    '1111111111111',
    '服务@张三.谢谢, 微信@张三。中国很大, https://medium.com/@张三.中国',
    'use "pkg"@latest, "a"@en.us1, he said "yes"@home. then "a b" @acme',
    '看https://docs.example/?page=1请看这里的说明文字，很长很长',
  ])('keep: %s', (text) => expect(base.forPublic.text(text)).toBe(text));

  test('mask values of names that do not mean secret', () => {
    const text = 'auth = "A1b2C3d4E5f6G7h8I9j0"';
    expect(base.text(text)).toBe(text);
    expect(base.forPublic.text(text)).toBe('auth = "[redacted:credential]"');
  });
});

const parts = fc.oneof(
  fc.constantFrom(
    'zq9-known-secret-77',
    'zq9-',
    '-----BEGIN RSA PRIVATE KEY-----\n',
    '-----END RSA PRIVATE KEY-----',
    keyBody,
    '\\n',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEF123456',
    'https://joe:p4ssw0rd@host.example/x',
    'https://joe:pä ss@host.example/x',
    '//joe:p4ss"w@host.example',
    '://',
    ':',
    '@a.b',
    'Authorization: Bearer abcDEF1234567890xyz',
    'Cookie: sid=abcdef1234567890; b=c',
    'api_key = "',
    'token: ',
    'A1b2C3d4E5f6G7h8I9j0',
    'password="Tr0ub4dor&3"',
    'secret: \'a,b[1]c;D4"',
    'joe@mail.org',
    'josé@exámple.es',
    'é',
    '日',
    '服务@例子.中国',
    '＠例子.公司',
    '"joe smith"@mail.org',
    '10.0.0.7',
    '/home/joe/x',
    '+49 170 1234567',
    '![a](https://x.example/?q=abcdefabcdefabcdefabcdef)',
    '[redacted:secret]',
    'kind: Secret\n',
    'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8',
    'ghp_',
    'sk-',
    'ey',
    '\n',
    ' ',
    '=',
    '"',
    'The key thing is that',
    'x'.repeat(200),
    'aB3d'.repeat(1200),
    '日本',
  ),
  fc.string({ maxLength: 8 }),
);
const texts = fc.array(parts, { maxLength: 14 }).map((list) => list.join(''));
const cuts = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 10 });

describe.each([
  ['private', base],
  ['public', base.forPublic],
])('%s stream', (_name, redactor) => {
  test('gives the same as the complete text however it is cut, and redacting twice changes nothing', { timeout: 300_000 }, () => {
    const property = fc.property(texts, cuts, (text, sizes) => {
      const whole = redactor.text(text);
      expect(throughPieces(redactor.stream(), text, sizes)).toBe(whole);
      expect(redactor.text(whole)).toBe(whole);
    });
    fc.assert(property, { numRuns: runs, ...(isDeep ? {} : { seed }) });
  });

  test('masks a token longer than what is held back to its end', () => {
    const token = `eyJhbGciOiJIUzI1NiJ9.eyJz${'dWIiOiIxMjM0NTY3ODkwIn0'.repeat(isBrief ? 300 : 2000)}`;
    const expected = 'it is [redacted:token] here';
    expect(redactor.text(`it is ${token} here`)).toBe(expected);
    expect(throughPieces(redactor.stream(), `it is ${token} here`, [63, 1])).toBe(expected);
  });
});

function throughPieces(stream: { push(text: string): string; end(): string }, text: string, sizes: readonly number[]): string {
  let out = '';
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    out += stream.push(text.slice(at, at + size));
    at += size;
  }
  return out + stream.end();
}

test('sends ordinary words at once, and holds back an open place until it ends', () => {
  const stream = base.stream();
  expect(stream.push('The key point is')).toBe('The key point is');
  expect(stream.push(', and token: ')).toBe(', and token:');
  expect(stream.push('A1b2C3d4E5f6')).toBe('');
  expect(stream.push('G7h8I9j0 ok')).toBe(' [redacted:credential] ok');
});

test.each(['.', '"', 'key=', 'key="', 'eyJ', '://a:', 'sk-', '-----BEGIN PRIVATE KEY-----\n', 'cookie: a=1;', 'password=a '])(
  'takes linear time for 64 KiB of %j',
  (part) => {
    const timeOf = (length: number) => {
      const text = part.repeat(length / part.length);
      const since = workedMs();
      mask(text);
      return workedMs() - since;
    };
    if (isBrief) return void timeOf(8192);
    timeOf(65_536);
    const small = Math.min(timeOf(16_384), timeOf(16_384));
    // Four times the text in four times the time; at most some 50 ms on an idle machine.
    expect(Math.min(timeOf(65_536), timeOf(65_536))).toBeLessThan(small * 8 + 50);
  },
);
