import { expect, test } from 'vitest';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { withEnvironment } from './from-environment.ts';

const instance = (type: string) =>
  ({ id: 'one', type, config: { port: 1, clients_file: 'clients.json' } }) as unknown as InstanceConfig;

test('the clients file of the environment replaces that of the config, only for the MCP server', () => {
  const set = { mcpClientsFile: '/etc/clients.json' };
  expect(withEnvironment(instance('toolserver'), set).config).toEqual({ port: 1, clients_file: '/etc/clients.json' });
  expect(withEnvironment(instance('compat'), set).config).toEqual({ port: 1, clients_file: 'clients.json' });
  expect(withEnvironment(instance('toolserver'), { mcpClientsFile: null }).config).toEqual({
    port: 1,
    clients_file: 'clients.json',
  });
});
