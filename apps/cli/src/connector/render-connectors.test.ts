import type { ConnectorMeta, ConnectorPermissions } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { describe, expect, test } from 'vitest';
import { createStyle } from '../terminal.ts';
import { renderConnectors, renderTypes } from './render-connectors.ts';

const style = createStyle({ isTTY: false } as NodeJS.WriteStream);
const meta = (permissions?: ConnectorPermissions): ConnectorMeta => ({
  type: 'issues',
  displayName: 'Issues',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  configSchema: { type: 'object', properties: {} },
  outbound: false,
  permissions,
});
const instance: Instance = {
  id: 'issues-2',
  type: 'issues',
  name: 'Mine',
  enabled: true,
  config: {},
  created_at: 0,
  updated_at: 0,
  status: 'running',
  reason: null,
  pid: 1,
  port: null,
  url: null,
  first_steps: null,
  invite_link: null,
  next_start_at: null,
  restarts: 0,
  started_at: 0,
  last_exit: null,
  healthy: true,
  heartbeat: 'fresh',
  last_heartbeat_at: 0,
  usage: null,
};

test('shows why an instance does not run, with the command that helps', () => {
  const reason =
    'shop waits: its secret SHOP_TOKEN may be in the vault, and the vault is sealed. Open it: ./svc vault unseal. shop then starts by itself.';
  const shown = renderConnectors(
    [{ ...instance, id: 'shop', type: 'shop', name: 'shop', status: 'waiting', reason }],
    style,
    [],
    300,
  );
  expect(shown).toBe(`shop  waiting\n    ${reason}`);
});

test('shows an unhealthy connector with its reason', () => {
  const unwell = { ...instance, healthy: false, reason: 'The keys file lets nobody in: it does not exist.' };
  expect(renderConnectors([unwell], style, [meta()])).toContain(
    'issues-2  running, not well, "Mine", issues\n    The keys file lets nobody in: it does not exist.',
  );
});

describe('permissions of a connector', () => {
  const asked = { allow: ['child-process', 'sqlite'], read: ['keys_file'], write: ['workspace_dir'] } as const;
  const words =
    'starts programs, opens SQLite files: it can do everything that this user can do; reads what keys_file names; ' +
    'writes to what workspace_dir names';

  test('are shown in the list of connectors and in that of types', () => {
    expect(renderConnectors([instance], style, [meta(asked)])).toContain(`\n\nissues-2 ${words}.`);
    expect(renderTypes([meta(asked)], style)).toContain(words);
  });

  test('are not shown when there are none', () => {
    expect(renderConnectors([instance], style, [meta()])).toBe('issues-2  running, "Mine", issues');
    expect(renderTypes([meta({})], style)).not.toContain('names');
  });
});
