import { expect, test } from 'vitest';
import { setupAddress } from './service-urls.ts';

test('the set-up address has a host name when the dashboard listens on 127.0.0.1, otherwise the IP address', () => {
  const at = (bindHost: string) => setupAddress({ bindHost, dashboardPort: 3020 }, 'token');
  expect(at('127.0.0.1')).toBe('http://localhost:3020/setup#token');
  expect(at('127.0.0.5')).toBe('http://127.0.0.5:3020/setup#token');
});
