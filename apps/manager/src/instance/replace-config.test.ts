import fc from 'fast-check';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { expect, test } from 'vitest';
import { createConfigValidator } from '../connector-type/validate-config.ts';
import { replaceConfig } from './replace-config.ts';

const properties = {
  room: { type: 'string', title: 'Room' },
  port: { type: 'integer', title: 'Port', default: 0 },
  greeting: { type: 'string', title: 'Greeting' },
  voice: { type: 'string', nullable: true, title: 'Voice' },
};
const meta: ConnectorMeta = {
  type: 'box',
  displayName: 'Box',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  outbound: false,
  configSchema: { type: 'object', required: ['room'], properties },
};
const validate = createConfigValidator();
const replace = (before: Record<string, unknown>, sent: Record<string, unknown>) =>
  replaceConfig({ id: 'box', meta, validate, before, sent });
const refusal = (before: Record<string, unknown>, sent: Record<string, unknown>): ServiceError => {
  try {
    replace(before, sent);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('was not refused');
};

test('rejects a config that would lose settings, and names them and what to send', () => {
  const error = refusal({ room: 'r', port: 4100, greeting: 'Hi' }, { room: 'other' });
  expect(error).toMatchObject({ code: 'bad_request', status: 400 });
  expect(error.message).toContain('would lose the stored settings port, greeting.');
  expect(error.message).toContain('GET /instances/box');
  expect(error.details).toEqual({
    fields: ['port', 'greeting'].map((name) => ({ field: `config.${name}`, problem: 'is stored and would be lost' })),
  });
});

test('a setting at its default may be omitted', () => {
  expect(replace({ room: 'r', port: 0 }, { room: 'other' })).toEqual({ room: 'other', port: 0 });
});

test('null resets a setting, and is stored where the type allows it', () => {
  expect(replace({ room: 'r', port: 4100, greeting: 'Hi' }, { room: 'r', port: null, greeting: null })).toEqual({
    room: 'r',
    port: 0,
  });
  expect(replace({ room: 'r', port: 0, voice: 'a' }, { room: 'r', voice: null })).toMatchObject({ voice: null });
  expect(refusal({ room: 'r', port: 0 }, { room: null }).message).toContain('config.room is missing');
});

test('a setting that the type no longer has may be omitted', () => {
  expect(replace({ room: 'r', port: 0, old: true }, { room: 'r' })).toEqual({ room: 'r', port: 0 });
});

test('random configs keep, replace or name each stored setting', () => {
  const config = fc.record(
    {
      room: fc.string({ maxLength: 3 }),
      port: fc.integer(),
      greeting: fc.string({ maxLength: 3 }),
      voice: fc.option(fc.string({ maxLength: 3 })),
    },
    { requiredKeys: ['room'] },
  );
  fc.assert(
    fc.property(config, config, (stored, sent) => {
      const before = validate(meta, stored);
      const isLost = Object.entries(before).some(([name, value]) => !(name in sent) && !(name === 'port' && value === 0));
      if (isLost) expect(refusal(before, sent).code).toBe('bad_request');
      else expect(replace(before, sent)).toEqual(validate(meta, sent));
    }),
  );
});
