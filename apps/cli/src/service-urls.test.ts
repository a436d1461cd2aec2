import { expect, test } from 'vitest';
import { setupAddress } from './service-urls.ts';

test('the dashboard is shown by a name where its address has one, and else by the address it listens on', () => {
  const at = (bindHost: string) => setupAddress({ bindHost, dashboardPort: 3020 }, 'token');
  expect(at('127.0.0.1')).toBe('http://localhost:3020/setup#token');
  expect(at('127.0.0.5')).toBe('http://127.0.0.5:3020/setup#token');
});
