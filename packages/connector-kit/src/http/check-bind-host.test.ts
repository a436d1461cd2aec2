import { describe, expect, test } from 'vitest';
import { checkBindHost } from './check-bind-host.ts';

describe('a bind address', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('%s is fine without a token', (host) => {
    expect(() => checkBindHost({ host, needsToken: false, allowedHosts: [] })).not.toThrow();
  });

  test.each(['0.0.0.0', '::', '192.168.1.2', 'fe80::1'])('%s needs a token', (host) => {
    expect(() => checkBindHost({ host, needsToken: false, allowedHosts: ['a.example'] })).toThrow(/Require a key/);
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['a.example'] })).not.toThrow();
  });

  test.each(['0.0.0.0', '::', '0:0:0:0:0:0:0:0'])('%s, all addresses, also needs named hosts', (host) => {
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: [] })).toThrow(/SVC_ALLOWED_HOSTS/);
    // The address of the service itself, which the manager always hands over.
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['127.0.0.1'] })).toThrow(/SVC_ALLOWED_HOSTS/);
  });

  test.each(['*', '', '127.evil.example', '127.0.0.1.evil.example', 'svc.example', '0x7f.1', '127.1'])(
    '%j is no address',
    (host) => {
      expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['a.example'] })).toThrow(/not an IP address/);
    },
  );
});
