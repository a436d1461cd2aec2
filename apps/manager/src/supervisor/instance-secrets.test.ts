import { describe, expect, test } from 'vitest';
import { createInstanceSecrets } from './instance-secrets.ts';

const keys = ['first', 'second'];
const maskOthers = (text: string) => text.replaceAll('of-another', '[redacted:secret]');

async function knowing(...values: string[]) {
  const instanceSecrets = createInstanceSecrets({ resolve: async (name) => values[Number(name)] ?? '' }, maskOthers);
  for (const name of values.keys()) await instanceSecrets.answer(String(name), keys, { first: String(name) });
  return instanceSecrets;
}

describe('masking of instance output', () => {
  test('masks a secret that begins with another one', async () => {
    const instanceSecrets = await knowing('token-abc', 'token-abc-and-more');
    expect(instanceSecrets.mask('token-abc-and-more, token-abc')).toBe('[redacted:secret], [redacted:secret]');
  });

  test('masks each line of a multi-line secret', async () => {
    const instanceSecrets = await knowing('-----BEGIN KEY-----\nMIIEvQIBADAN\r\nBgkqhkiG9w0B\n-----END KEY-----\n');
    expect(['MIIEvQIBADAN', '  BgkqhkiG9w0B'].map((line) => instanceSecrets.mask(line))).toEqual([
      '[redacted:secret]',
      '  [redacted:secret]',
    ]);
  });

  test('masks a secret that was resolved after many others', async () => {
    const values = Array.from({ length: 2_000 }, (_, i) => `value-number-${i}.`);
    const instanceSecrets = await knowing(...values);
    expect(instanceSecrets.mask('value-number-1999.')).toBe('[redacted:secret]');
  });

  test('keeps JSON valid and does not reveal the name of the secret', async () => {
    const instanceSecrets = createInstanceSecrets({ resolve: async () => 'token-abc' }, maskOthers);
    await instanceSecrets.answer('a"b\\', keys, { first: 'a"b\\' });
    expect(JSON.parse(instanceSecrets.mask('{"msg":"token-abc"}'))).toEqual({ msg: '[redacted:secret]' });
  });

  test('masks texts, numbers and field names of an event', async () => {
    const instanceSecrets = await knowing('token-abc', '123456');
    const event = { kind: 'error' as const, text: 'bad token-abc', payload: { ms: 123456, 'token-abc': ['x/token-abc'] } };
    expect(instanceSecrets.maskEvent(event)).toEqual({
      kind: 'error',
      text: 'bad [redacted:secret]',
      payload: { ms: '[redacted:secret]', '[redacted:secret]': ['x/[redacted:secret]'] },
    });
  });

  test('drops deeply nested parts of an event', async () => {
    const instanceSecrets = await knowing('token-abc');
    const payload = JSON.parse(`${'{"a":'.repeat(50_000)}"token-abc"${'}'.repeat(50_000)}`) as Record<string, unknown>;
    const json = JSON.stringify(instanceSecrets.maskEvent({ kind: 'error', payload }));
    expect(json).not.toContain('token-abc');
    expect(json.length).toBeLessThan(1000);
  });

  test('masks secrets of others in an event', async () => {
    const instanceSecrets = await knowing();
    const event = { kind: 'error' as const, text: 'bad of-another', payload: { deep: [{ of: 'x/of-another' }] } };
    expect(instanceSecrets.maskEvent(event)).toEqual({
      kind: 'error',
      text: 'bad [redacted:secret]',
      payload: { deep: [{ of: 'x/[redacted:secret]' }] },
    });
  });

  test('replaces an event when secrets of others cannot be read', () => {
    const fails = () => {
      throw new Error('no list');
    };
    const instanceSecrets = createInstanceSecrets({ resolve: async () => '' }, fails);
    expect(instanceSecrets.maskEvent({ kind: 'inbound', text: 'of-another' })).toEqual({
      kind: 'error',
      payload: { left_out: 'it could not be masked' },
    });
  });
});

test('concurrent requests of an instance for secrets are limited', async () => {
  const asked: (() => void)[] = [];
  const instanceSecrets = createInstanceSecrets(
    { resolve: () => new Promise((resolve) => asked.push(() => resolve('token-abc'))) },
    maskOthers,
  );
  const answers = Array.from({ length: 40 }, () => instanceSecrets.answer('0', keys, { first: '0' }));
  expect(asked).toHaveLength(32);
  for (const give of asked) give();
  const errors = (await Promise.all(answers)).map(({ error }) => error).filter((error) => error !== null);
  expect(errors).toEqual(Array.from({ length: 8 }, () => expect.stringContaining('more than 32')));
  void instanceSecrets.answer('0', keys, { first: '0' });
  expect(asked).toHaveLength(33);
});
