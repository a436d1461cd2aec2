import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { nextPage } from './auth-api.ts';

const origin = 'http://localhost:3020';
beforeAll(() => void vi.stubGlobal('location', { origin, protocol: 'http:' }));
afterAll(() => void vi.unstubAllGlobals());
const goesTo = (next: string) => nextPage(`?next=${encodeURIComponent(next)}`);

test.each([
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\u0001//evil.example',
  'https://evil.example/',
  'https:evil.example',
  'http:\\\\evil.example',
  'http://localhost:3020@evil.example/',
  'http://localhost:3020.evil.example/',
  'http://localhost:1/',
  'http://127.0.0.1:3020/',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:http://localhost:3020/1',
  'http://[',
  '/login?next=//evil.example',
  '/x/../login',
  '/setup#token',
  '/x/..//evil.example',
  '/.//evil.example',
  '/%2e%2e//evil.example',
  '/x/..\\/evil.example',
])('[12] %j leads to the home page', (next) => {
  expect(goesTo(next)).toBe(`${origin}/`);
});

test('a page of the same origin is kept, with its query', () => {
  expect(goesTo('/search?q=a&days=7')).toBe(`${origin}/search?q=a&days=7`);
  expect(nextPage('')).toBe(`${origin}/`);
});
