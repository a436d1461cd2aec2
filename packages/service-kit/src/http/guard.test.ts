import { describe, expect, test } from 'vitest';
import { createGuard } from './guard.ts';

const guard = createGuard(['127.0.0.1', 'Home.Example']);
const refusal = (headers: Record<string, string>) => guard({ host: '127.0.0.1:3023', ...headers })?.code ?? null;

describe('Host header', () => {
  test.each(['localhost', 'localhost:3023', '127.0.0.1:3023', '127.8.9.10', '[::1]:3023', 'home.example', 'HOME.example:443'])(
    'accepts %s',
    (host) => {
      expect(refusal({ host })).toBeNull();
    },
  );

  test.each([
    'evil.example',
    'evil.example:3023',
    '127.evil.example',
    '127.0.0.1.evil.example',
    'localhost.',
    '',
    '0.0.0.0',
    '10.0.0.1',
    '[::ffff:127.0.0.1]',
    'a b',
  ])('rejects "%s"', (host) => {
    expect(refusal({ host })).toBe('bad_host');
  });

  test('rejects a request without Host', () => {
    expect(guard({})).toMatchObject({ code: 'bad_host', status: 400 });
  });
});

describe('Origin header', () => {
  test('accepts a page of the same origin', () => {
    expect(refusal({ origin: 'http://127.0.0.1:3023' })).toBeNull();
  });

  test.each(['https://evil.example', 'null', 'http://127.0.0.1:9999', 'http://localhost:3023', 'file://', ''])(
    'rejects "%s"',
    (origin) => {
      expect(refusal({ origin })).toBe('bad_origin');
    },
  );

  test('rejects equal Host and Origin of a foreign name', () => {
    expect(refusal({ host: 'evil.example:3023', origin: 'http://evil.example:3023' })).toBe('bad_host');
  });

  test('rejects a request that the browser marks as cross-site', () => {
    expect(refusal({ 'sec-fetch-site': 'cross-site' })).toBe('bad_origin');
    expect(refusal({ 'sec-fetch-site': 'same-origin' })).toBeNull();
  });
});

describe('page on another port of this host', () => {
  const neighbour = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' };

  test('cannot embed resources, but may link to them', () => {
    expect(refusal({ ...neighbour, 'sec-fetch-dest': 'script' })).toBe('bad_origin');
    expect(refusal({ ...neighbour, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).toBeNull();
    expect(refusal({ ...neighbour, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' })).toBeNull();
    expect(refusal({ ...neighbour, 'sec-fetch-site': 'none' })).toBeNull();
  });

  test('cannot embed resources of navigable routes or of routes open to other sites', () => {
    for (const opening of [{ navigable: true }, { origins: ['*'] }])
      expect(createGuard([], opening)({ host: 'localhost', ...neighbour }, 'GET')?.code).toBe('bad_origin');
  });
});

describe('navigable route', () => {
  const open = createGuard(['home.example'], { navigable: true });
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const form = { origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
  const code = (headers: Record<string, string>, method = 'GET', host = 'home.example') =>
    open({ host, ...headers }, method)?.code ?? null;

  test('accepts links from any site, and its own forms without an origin', () => {
    expect(code(link)).toBeNull();
    expect(code(form, 'POST')).toBeNull();
    expect(refusal(link)).toBe('bad_origin');
    expect(refusal(form)).toBe('bad_origin');
  });

  test.each([
    ['a form of another site', link, 'POST'],
    ['a form of another site, with its origin', { ...link, origin: 'https://evil.example' }, 'POST'],
    ['a form in a sandboxed frame', { ...form, 'sec-fetch-site': 'cross-site' }, 'POST'],
    ['a form of a neighbouring port', { ...form, 'sec-fetch-site': 'same-site' }, 'POST'],
    ['a form of a browser that does not say from where', { origin: 'null' }, 'POST'],
    ['a fetch without an origin', { ...form, 'sec-fetch-mode': 'cors' }, 'POST'],
    ['a frame in a page of another site', { ...link, 'sec-fetch-dest': 'iframe' }, 'GET'],
    ['an object in a page of another site', { ...link, 'sec-fetch-dest': 'object' }, 'GET'],
    ['a picture', { ...link, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 'GET'],
    ['a script that reads', { ...link, origin: 'https://evil.example', 'sec-fetch-mode': 'cors' }, 'GET'],
    ['a navigation that is said twice', { ...link, 'sec-fetch-mode': 'navigate, navigate' }, 'GET'],
    ['a method of no link', link, 'DELETE'],
  ])('rejects %s', (_what, headers, method) => {
    expect(code(headers, method)).toBe('bad_origin');
  });

  test('rejects other host names', () => {
    expect(code(link, 'GET', 'evil.example')).toBe('bad_host');
    expect(code(form, 'POST', 'evil.example')).toBe('bad_host');
  });
});

describe('route with allowed origins', () => {
  const open = createGuard(['home.example'], { origins: ['https://app.example'] });
  const code = (headers: Record<string, string>, guarded = open) =>
    guarded({ host: 'home.example', ...headers }, 'POST')?.code ?? null;

  test('accepts exactly the listed origins', () => {
    expect(code({ origin: 'https://app.example', 'sec-fetch-site': 'cross-site' })).toBeNull();
    for (const origin of [
      'http://app.example',
      'https://app.example.evil.example',
      'https://app.example:444',
      'https://APP.example',
      'https://app.example/',
      'https://evil.example, https://app.example',
      'null',
      '',
    ])
      expect(code({ origin })).toBe('bad_origin');
  });

  test('rejects a cross-site request without an origin', () => {
    expect(code({ 'sec-fetch-site': 'cross-site' })).toBe('bad_origin');
    expect(code({ 'sec-fetch-site': 'cross-site' }, createGuard(['home.example'], { origins: ['*'] }))).toBe('bad_origin');
  });

  test('accepts any origin with a star, under our host names only', () => {
    const any = createGuard(['home.example'], { origins: ['*'] });
    for (const origin of ['https://evil.example', 'null'])
      expect(code({ origin, 'sec-fetch-site': 'cross-site' }, any)).toBeNull();
    expect(any({ host: 'evil.example', origin: 'http://evil.example' }, 'POST')?.code).toBe('bad_host');
  });
});
