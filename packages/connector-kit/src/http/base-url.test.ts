import { describe, expect, test } from 'vitest';
import { originOf } from './base-url.ts';

describe('originOf()', () => {
  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://A.Example:443/', 'https://a.example'],
    ['https://bücher.example:8443', 'https://xn--bcher-kva.example:8443'],
    ['http://localhost:3018', 'http://localhost:3018'],
    ['http://[::1]:3018', 'http://[::1]:3018'],
  ])('%s has the origin %s', (text, origin) => {
    expect(originOf(text, { http: 'loopback' })).toBe(origin);
  });

  test('allows http:// only for this machine, unless the connector allows it anywhere', () => {
    expect(() => originOf('http://a.example', { http: 'loopback' })).toThrow(/http:\/\/ is allowed only for this machine/);
    expect(originOf('http://192.168.1.5:3028/', { http: 'anywhere' })).toBe('http://192.168.1.5:3028');
  });

  test.each([
    'a.example',
    ' ',
    'https://a.example/path',
    'https://a.example?x=1',
    'https://a.example/#x',
    'https://me:secret@a.example',
    'ftp://a.example',
    'javascript:alert(1)',
    'file:///',
  ])('rejects %j', (text) => {
    expect(() => originOf(text, { http: 'anywhere' })).toThrow(/^base_url must/);
  });
});
