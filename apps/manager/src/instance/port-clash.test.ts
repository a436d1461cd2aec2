import { portElsewhere } from '@svc/contract/connector-meta.ts';
import { expect, test } from 'vitest';
import { findPortClash } from './port-clash.ts';

const port = { type: 'integer', title: 'Port' };
const fieldsOf = (type: string) =>
  type === 'mail' ? { imap_port: { ...port, ...portElsewhere }, http_port: port, webhook_port: port } : undefined;
const hosts: Parameters<typeof findPortClash>[2]['hosts'] = {
  corePort: 3023,
  managerPort: 3024,
  collectorPort: 3017,
  dashboard: 'on',
  dashboardPort: 3020,
  vaultPort: 3022,
  vaultUrl: null,
  bindHost: '127.0.0.1',
  dataDir: '/none',
};
const instance = (id: string, config: object, type = 'mail') => ({
  id,
  type,
  name: id,
  enabled: true,
  config: { ...config },
});
const clash = (first: object, second: object, type?: string) =>
  findPortClash(instance('b', second, type), [instance('a', first, type)], { hosts, fieldsOf });

test('a port on another server may be used by any instance, and equal one of the service', () => {
  expect(clash({ imap_port: 993 }, { imap_port: 993 })).toBeNull();
  expect(clash({}, { imap_port: 3024 })).toBeNull();
  expect(clash({ imap_port: 4100 }, { http_port: 4100 })).toBeNull();
});

test('a port that an instance listens on is taken, even when its type is missing', () => {
  expect(clash({ http_port: 4100 }, { webhook_port: 4100 })).toBe(
    'Port 4100 belongs to the instance "a" (a). Choose another port.',
  );
  expect(clash({ imap_port: 993 }, { imap_port: 993 }, 'gone')).toContain('the instance "a"');
});

test('a port of a running host process is taken', () => {
  const clashWith = (port: number, more: { dashboard?: 'off'; vaultUrl?: string } = {}) =>
    findPortClash(instance('a', { http_port: port }), [], { hosts: { ...hosts, ...more }, fieldsOf })?.split('.')[0] ?? null;
  expect([3023, 3024, 3017, 3020].map((port) => clashWith(port))).toEqual([
    'Port 3023 belongs to the core',
    'Port 3024 belongs to the manager',
    'Port 3017 belongs to the collector',
    'Port 3020 belongs to the dashboard',
  ]);
  expect(clashWith(3022, { vaultUrl: 'http://127.0.0.1:3022' })).toBe('Port 3022 belongs to the vault');
  expect([clashWith(3020, { dashboard: 'off' }), clashWith(3022)]).toEqual([null, null]);
});

test('two ports of an instance must differ, except 0', () => {
  expect(clash({}, { http_port: 4100, webhook_port: 4100 })).toBe(
    'Port 4100 belongs to http_port of the same instance. Choose another port.',
  );
  expect(clash({}, { http_port: 0, webhook_port: 0 })).toBeNull();
});
