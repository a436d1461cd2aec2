import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { cookiesOf, originOf, writeCookie } from './login-cookie.ts';
import { passkeyHost } from './passkey-host.ts';
import { visitorOf } from './visitor.ts';

test('the cookie with the __Host- prefix comes first, and cookies of similar names are ignored', () => {
  const cookie = 'svc-login=plain; a=b;__Host-svc-login=safe; svc-login; xsvc-login=x; svc-login2=x; svc-device=d; svc-login=p=q';
  expect(cookiesOf('login', { cookie })).toEqual(['safe', 'plain', '', 'p']);
  expect(cookiesOf('device', { cookie })).toEqual(['d']);
  expect([cookiesOf('setup', { cookie }), cookiesOf('login', {})]).toEqual([[], []]);
});

test('cookies are HttpOnly and SameSite=Strict, and over https also Secure and bound to the host', () => {
  expect(writeCookie('login', new URL('https://a.example'), 'v')).toBe(
    '__Host-svc-login=v; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure',
  );
  expect(writeCookie('device', new URL('http://localhost:3020'), 'v')).toBe(
    'svc-device=v; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict',
  );
  expect(writeCookie('setup', new URL('http://localhost:3020'), 'v')).toContain('; Max-Age=900; ');
  expect(writeCookie('login', new URL('https://a.example'), '')).toContain('__Host-svc-login=; Path=/; Max-Age=0; ');
});

test.each([
  'https://a.example',
  'https://a.example:8443',
  'http://localhost:3020',
  'http://127.0.0.1:3020',
  'http://127.0.0.5:3020',
  'http://[::1]:3020',
])('a page of %s can sign in', (origin) => {
  expect(originOf({ origin }).origin).toBe(origin);
  expect(originOf({ origin, 'sec-fetch-site': 'same-origin' }).origin).toBe(origin);
});

test.each<[IncomingHttpHeaders]>([
  [{}],
  [{ origin: '' }],
  [{ origin: 'null' }],
  [{ origin: 'http://a.example' }],
  [{ origin: 'http://10.0.0.5' }],
  [{ origin: 'http://127.evil.example' }],
  [{ origin: 'http://[::2]' }],
  [{ origin: 'http://localhost.evil.example' }],
  [{ origin: 'ftp://localhost' }],
  [{ origin: 'chrome-extension://localhost' }],
  [{ origin: 'https://a.example', 'sec-fetch-site': 'same-site' }],
  [{ origin: 'https://a.example', 'sec-fetch-site': 'cross-site' }],
  [{ origin: 'https://a.example', 'sec-fetch-site': 'none' }],
  [{ origin: 'https://a.example', 'sec-fetch-site': '' }],
])('rejects a login from %j', (headers) => {
  expect(() => originOf(headers)).toThrow(expect.objectContaining({ code: 'bad_origin' }));
  expect(() => visitorOf(headers)).toThrow(expect.objectContaining({ code: 'bad_origin' }));
});

test('the device of a visitor is the user agent, truncated to 256 characters', () => {
  const cookie = 'svc-device=d; svc-setup=s';
  expect(visitorOf({ origin: 'https://a.example', cookie, 'user-agent': 'x'.repeat(300) })).toEqual({
    device: 'x'.repeat(256),
    deviceCookies: ['d'],
    setupCookies: ['s'],
    origin: new URL('https://a.example'),
  });
  expect(visitorOf({ origin: 'https://a.example' }).device).toBe('a program without a name');
});

test('a passkey is bound to a host name and rejects IP addresses', () => {
  expect(passkeyHost(new URL('https://a.example:8443'))).toBe('a.example');
  for (const host of ['127.0.0.1', '[::1]'])
    expect(() => passkeyHost(new URL(`http://${host}:3020`))).toThrow(/open http:\/\/localhost:3020 instead/);
  expect(() => passkeyHost(new URL('http://127.0.0.1'))).toThrow(/open http:\/\/localhost instead/);
});
