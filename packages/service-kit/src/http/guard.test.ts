import { describe, expect, test } from 'vitest';
import { createGuard } from './guard.ts';

const guard = createGuard(['127.0.0.1', 'Home.Example']);
const refusal = (headers: Record<string, string>) => guard({ host: '127.0.0.1:3023', ...headers })?.code ?? null;

describe('Host', () => {
  test.each(['localhost', 'localhost:3023', '127.0.0.1:3023', '127.8.9.10', '[::1]:3023', 'home.example', 'HOME.example:443'])(
    '%s passes',
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
  ])('"%s" is refused', (host) => {
    expect(refusal({ host })).toBe('bad_host');
  });

  test('a request without Host is refused', () => {
    expect(guard({})).toMatchObject({ code: 'bad_host', status: 400 });
  });
});

describe('Origin', () => {
  test('the page of this very address passes', () => {
    expect(refusal({ origin: 'http://127.0.0.1:3023' })).toBeNull();
  });

  test.each(['https://evil.example', 'null', 'http://127.0.0.1:9999', 'http://localhost:3023', 'file://', ''])(
    '"%s" is refused',
    (origin) => {
      expect(refusal({ origin })).toBe('bad_origin');
    },
  );

  test('equal Host and Origin of a foreign name are both refused', () => {
    expect(refusal({ host: 'evil.example:3023', origin: 'http://evil.example:3023' })).toBe('bad_host');
  });

  test('a browser that calls the request cross-site is believed', () => {
    expect(refusal({ 'sec-fetch-site': 'cross-site' })).toBe('bad_origin');
    expect(refusal({ 'sec-fetch-site': 'same-origin' })).toBeNull();
  });
});
