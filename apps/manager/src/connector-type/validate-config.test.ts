import { Script } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { createConfigValidator } from './validate-config.ts';

const meta = (title: string): ConnectorMeta => ({
  type: 'named',
  displayName: title,
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  outbound: false,
  // A schema may have its own id, which a changed type keeps.
  configSchema: Object.assign(
    { type: 'object' as const, properties: { room: { type: 'string', title, default: title } } },
    { $id: 'named' },
  ),
});

test('a type whose schema has changed is validated by the new one', () => {
  const validate = createConfigValidator();
  expect(validate(meta('one'), {})).toEqual({ room: 'one' });
  expect(validate(meta('two'), {})).toEqual({ room: 'two' });
});

const metaWith = (fields: object): ConnectorMeta => ({
  type: 'wild',
  displayName: 'Wild',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: [],
  outbound: false,
  configSchema: { type: 'object', properties: fields } as ConnectorMeta['configSchema'],
});
const validate = createConfigValidator();

test('a pattern with catastrophic backtracking rejects the value in bounded time', () => {
  const meta = metaWith({ room: { type: 'string', title: 'Room', pattern: '^(a+)+$', default: `${'a'.repeat(26)}!` } });
  const since = workedMs();
  expect(() => validate(meta, {})).toThrow('config.room does not have the expected format');
  expect(workedMs() - since).toBeLessThan(2_000);
});

test('a pattern that timed out on a busy machine is tried again', () => {
  const run = vi.spyOn(Script.prototype, 'runInContext');
  onTestFinished(() => run.mockRestore());
  run.mockImplementationOnce(() => {
    throw Object.assign(new Error('out of time'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  });
  const meta = metaWith({ room: { type: 'string', title: 'Room', pattern: '^[a-z]+$' } });
  expect(createConfigValidator()(meta, { room: 'a' })).toEqual({ room: 'a' });
  expect(run.mock.calls.length).toBeGreaterThan(1);
});

test('a path with "~" is rejected only in fields that are paths', () => {
  const text = { type: 'string', title: 'Text', default: 'keys.json' };
  const meta = { ...metaWith({ file: text, folder: text, name: text }), permissions: { read: ['file'], write: ['folder'] } };
  for (const path of ['~', '~/keys.json', '~ann/keys.json'])
    expect(() => validate(meta, { file: path, folder: path })).toThrow(/config\.file begins with "~".*config\.folder begins/);
  const config = { file: '/a/~/keys.json', folder: 'old~', name: '~/what' };
  expect(validate(meta, config)).toEqual(config);
});

test('each field is validated by its own pattern', () => {
  const field = (pattern: string) => ({ type: 'string', title: 'Field', pattern });
  const meta = metaWith({ letters: field('^[a-z]+$'), digits: field('^\\d+$') });
  expect(validate(meta, { letters: 'abc', digits: '123' })).toEqual({ letters: 'abc', digits: '123' });
  expect(() => validate(meta, { letters: '123', digits: '123' })).toThrow(/config\.letters takes a-z\. [^;]*$/m);
  expect(() => validate(meta, { letters: 'abc', digits: 'abc' })).toThrow(/config\.digits takes 0-9\. [^;]*$/m);
});
