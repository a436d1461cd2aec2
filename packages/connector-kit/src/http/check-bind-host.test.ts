import { describe, expect, test } from 'vitest';
import { checkBindHost } from './check-bind-host.ts';

describe('checkBindHost()', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('allows %s without a token', (host) => {
    expect(() => checkBindHost({ host, needsToken: false, allowedHosts: [] })).not.toThrow();
  });

  test.each(['0.0.0.0', '::', '192.168.1.2', 'fe80::1'])('requires a token for %s', (host) => {
    expect(() => checkBindHost({ host, needsToken: false, allowedHosts: ['a.example'] })).toThrow(/Require a key/);
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['a.example'] })).not.toThrow();
  });

  test.each(['0.0.0.0', '::', '0:0:0:0:0:0:0:0'])('requires allowed hosts for %s, which means all addresses', (host) => {
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: [] })).toThrow(/SVC_ALLOWED_HOSTS/);
    // The manager always passes the service's own address.
    expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['127.0.0.1'] })).toThrow(/SVC_ALLOWED_HOSTS/);
  });

  test.each(['*', '', '127.evil.example', '127.0.0.1.evil.example', 'svc.example', '0x7f.1', '127.1'])(
    'rejects %j as no IP address',
    (host) => {
      expect(() => checkBindHost({ host, needsToken: true, allowedHosts: ['a.example'] })).toThrow(/not an IP address/);
    },
  );
});
