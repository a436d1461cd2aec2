import { expect, test } from 'vitest';
import { checkBaseUrl } from './check-base-url.ts';

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'ftp://host/v1',
  'host:8080',
  'http://',
  'http://host/v1\r\nx: y',
  'http://ho st/v1',
  'http://name:password@host/v1',
  'http://name@host/v1',
  'http://host/v1?key=x',
  'http://host/v1#x',
  ` http://host`,
  `http://host/${'x'.repeat(2048)}`,
])('[X09] rejects %j', (text) => expect(checkBaseUrl(text)).toHaveProperty('problem'));

test.each([
  ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1'],
  ['https://models.example.com/v1/', 'https://models.example.com/v1'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
])('accepts %s', (text, url) => expect(checkBaseUrl(text)).toEqual({ url }));

test('an empty string clears the address', () => expect(checkBaseUrl('')).toBeNull());
