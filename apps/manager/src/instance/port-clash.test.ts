import { portElsewhere } from '@svc/contract/connector-meta.ts';
import { expect, test } from 'vitest';
import { findPortClash } from './port-clash.ts';

const port = { type: 'integer', title: 'Port' };
const fieldsOf = (type: string) =>
  type === 'mail' ? { imap_port: { ...port, ...portElsewhere }, http_port: port, webhook_port: port } : undefined;
const hosts = { corePort: 3023, managerPort: 3024, collectorPort: 3017 };
const instance = (id: string, config: object, type = 'mail') => ({
  id,
  type,
  name: id,
  enabled: true,
  config: { ...config },
});
const clash = (first: object, second: object, type?: string) =>
  findPortClash(instance('b', second, type), [instance('a', first, type)], { hosts, fieldsOf });

test('a port of a server elsewhere may be that of any number of instances, and of the service', () => {
  expect(clash({ imap_port: 993 }, { imap_port: 993 })).toBeNull();
  expect(clash({}, { imap_port: 3024 })).toBeNull();
  expect(clash({ imap_port: 4100 }, { http_port: 4100 })).toBeNull();
});

test('a port that an instance listens on is its own, also where its type is not there', () => {
  expect(clash({ http_port: 4100 }, { webhook_port: 4100 })).toBe(
    'Port 4100 belongs to the instance "a" (a). Choose another port.',
  );
  expect(clash({ imap_port: 993 }, { imap_port: 993 }, 'gone')).toContain('the instance "a"');
});

test('two ports of an instance are not the same one, unless any will do', () => {
  expect(clash({}, { http_port: 4100, webhook_port: 4100 })).toBe(
    'Port 4100 belongs to http_port of the same instance. Choose another port.',
  );
  expect(clash({}, { http_port: 0, webhook_port: 0 })).toBeNull();
});
