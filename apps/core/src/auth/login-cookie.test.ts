import { expect, test } from 'vitest';
import { originOf } from './login-cookie.ts';

test('on plain http every loopback address has a login, and no other', () => {
  for (const host of ['localhost', '127.0.0.1', '127.0.0.5', '[::1]'])
    expect(originOf({ origin: `http://${host}:3020` }).host).toBe(`${host}:3020`);
  for (const host of ['10.0.0.5', '127.evil.example', 'example.org', '[::2]'])
    expect(() => originOf({ origin: `http://${host}:3020` }), host).toThrow('Sign in over https');
});
