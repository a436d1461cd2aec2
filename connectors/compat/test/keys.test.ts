import OpenAI, { type APIError, AuthenticationError, RateLimitError } from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { annKey, startCompat, type RunningCompat } from './start-compat.ts';

const hello = [{ role: 'user' as const, content: 'hello there' }];

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());
const client = (apiKey: string) => new OpenAI({ baseURL: `${compat.url}/v1`, apiKey, maxRetries: 0 });
const ask = (apiKey: string) => client(apiKey).chat.completions.create({ model: 'svc', messages: hello });

test.each(['no', 'x'.repeat(10_000), `${annKey}x`, annKey.slice(0, -1), 'schl\u00fcssel'])(
  'a wrong key is an AuthenticationError (%#)',
  async (key) => {
    const error = await client(key)
      .models.list()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key' });
    expect((error as APIError).headers?.get('www-authenticate')).toBe('Bearer');
    expect(compat.core.turns).toHaveLength(0);
  },
);

test.each([
  ['/v1/chat/completions', 'POST'],
  ['/v1/models', 'GET'],
  ['/v1/models/svc', 'GET'],
])('%s requires a key, regardless of forwarded addresses', async (route, method) => {
  const headers = { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1', 'x-real-ip': '127.0.0.1' };
  expect((await fetch(compat.url + route, { method, headers })).status).toBe(401);
});

test('limits the rate of wrong keys, and still accepts a valid key', async () => {
  for (let i = 0; i < 21; i++)
    await client('no')
      .models.list()
      .catch(() => undefined);
  const error = await client('no')
    .models.list()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RateLimitError);
  expect(Number((error as APIError).headers?.get('retry-after'))).toBeGreaterThan(0);
  await expect(ask(annKey)).resolves.toMatchObject({ object: 'chat.completion' });
  expect(compat.logs.join('\n')).not.toContain(annKey);
});

describe('keys file', () => {
  const models = (key: string) => client(key).models.list();

  test('applies changes while running', async () => {
    await models(annKey);
    compat.writeKeys([{ key: 'a-new-key', identity: 'cy' }]);
    await vi.waitFor(() => expect(models(annKey)).rejects.toBeInstanceOf(AuthenticationError), {
      timeout: 40_000,
      interval: 200,
    });
    await models('a-new-key');
  });

  test('rejects every key with 503 while the file is broken, and reports it in the health', async () => {
    await models(annKey);
    compat.writeKeys('{"keys":');
    await vi.waitFor(() => expect(models(annKey)).rejects.toMatchObject({ status: 503, code: 'unavailable' }), {
      timeout: 40_000,
      interval: 200,
    });
    await expect(models('no')).rejects.toMatchObject({ status: 503 });
    expect((await fetch(`${compat.url}/v1/models`)).status).toBe(401);
    const health = await fetch(`${compat.url}/health`);
    expect(await health.json()).toMatchObject({
      status: 'degraded',
      service: 'compat',
      degraded: [expect.stringContaining('lets nobody in')],
    });
    expect(compat.health().healthy).toBe(false);
  });
});

describe('connector that requires no key', () => {
  test('takes every caller as anonymous, also with a key', async () => {
    const open = await startCompat({ require_key: false, model_name: 'house' });
    try {
      for (const headers of [{}, { authorization: `Bearer ${annKey}` }]) {
        const answer = await fetch(`${open.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ messages: hello }),
        });
        expect(await answer.json()).toMatchObject({ model: 'house' });
      }
      const anonymous = { raw_id: 'anonymous', raw_username: 'anonymous' };
      expect(open.core.turns.map(({ envelope }) => envelope.sender)).toEqual([anonymous, anonymous]);
    } finally {
      await open.stop();
    }
  });

  test('does not start on an address that the network can reach', async () => {
    await expect(startCompat({ require_key: false, bind_host: '0.0.0.0' })).rejects.toThrow(/Require a key/);
  });
});
