import { expect, test } from 'vitest';
import { redirectFault, redirectSource } from './redirect-uris.ts';

test.each([
  'https://client.example/cb',
  'https://client.example:8443/cb?a=1',
  'http://localhost:4790/cb',
  'http://127.0.0.1/cb',
  'http://[::1]:4790/cb',
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'com.example.app:/cb',
  'httpsx://a;b/cb',
  'xhttps://a;b/cb',
  `https://client.example/${'a'.repeat(2_000 - 'https://client.example/'.length)}`,
])('accepts %s', (uri) => {
  expect(redirectFault([uri])).toBeNull();
});

test.each([
  ['no list', 'https://client.example/cb', 'at least one'],
  ['an empty list', [], 'at least one'],
  ['more than 20', Array.from({ length: 21 }, () => 'https://client.example/cb'), 'up to 20'],
  ['what is no text', [7], 'not a valid address'],
  ['a list in the list', [['https://client.example/cb']], 'not a valid address'],
  ['no address', ['client.example/cb'], 'not a valid address'],
  [
    'one that is too long',
    [`https://client.example/${'a'.repeat(2_001 - 'https://client.example/'.length)}`],
    'not a valid address',
  ],
  ['a line feed', ['https://client.example/cb\nx'], 'not a valid address'],
  ['a blank before it', [' https://client.example/cb'], 'not a valid address'],
  ['other letters', ['https://clıent.example/cb'], 'not a valid address'],
  ['a fragment', ['https://client.example/cb#a'], 'fragment'],
  ['an empty fragment', ['https://client.example/cb#'], 'fragment'],
  ['a user', ['https://user@client.example/cb'], 'user name'],
  ['a password alone', ['https://:pw@client.example/cb'], 'user name'],
  ['signs in the host that a policy reads', ["https://a;script-src'unsafe-inline'/cb"], 'letters, digits'],
  ['such signs by http', ['http://a;b/cb'], 'letters, digits'],
  ['http to another machine', ['http://client.example/cb'], 'this machine'],
  ['http to a name that begins as this machine', ['http://127.0.0.1.evil.example/cb'], 'this machine'],
  ['a bad one behind a good one', ['https://client.example/cb', 'http://client.example/cb'], 'this machine'],
])('rejects %s', (_what, uris, words) => {
  expect(redirectFault(uris)).toContain(words);
});

test('accepts 20 redirect URIs', () => {
  expect(redirectFault(Array.from({ length: 20 }, () => 'https://client.example/cb'))).toBeNull();
});

test.each(
  'javascript data vbscript file blob about filesystem view-source ws wss ftp mailto tel sms intent JavaScript'.split(' '),
)('rejects %s:, which a browser would act on', (scheme) => {
  expect(redirectFault([`${scheme}://host/x`])).toBe(`a redirect URI must not begin with ${scheme.toLowerCase()}:`);
});

test('redirectSource() allows only the origin, or the scheme', () => {
  expect(redirectSource('https://client.example:8443/cb?a=1')).toBe('https://client.example:8443');
  expect(redirectSource('http://127.0.0.1:4790/cb')).toBe('http://127.0.0.1:4790');
  expect(redirectSource('cursor://anysphere/cb')).toBe('cursor:');
});
