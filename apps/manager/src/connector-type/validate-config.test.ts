import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { expect, it } from 'vitest';
import { createConfigValidator } from './validate-config.ts';

const meta = (title: string): ConnectorMeta => ({
  type: 'named',
  displayName: title,
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  outbound: false,
  // A schema may have an id of its own; a type that was changed keeps it.
  configSchema: Object.assign(
    { type: 'object' as const, properties: { room: { type: 'string', title, default: title } } },
    { $id: 'named' },
  ),
});

it('a type that was described anew is checked by its new schema', () => {
  const validate = createConfigValidator();
  expect(validate(meta('one'), {})).toEqual({ room: 'one' });
  expect(validate(meta('two'), {})).toEqual({ room: 'two' });
});
