import { createServer } from 'node:http';
import { listen } from '@svc/testing/listen.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createBotCall } from './outgoing/bot-call.ts';
import { createTelegramApi } from './telegram-api.ts';

const token = '7001:AAthe-token-that-is-in-the-address';
const { signal } = new AbortController();

/** The error of each part of the connector for a refusal. */
async function refusals(body: object): Promise<Error[]> {
  const server = await listen(createServer((_, response) => void response.end(JSON.stringify(body))));
  onTestFinished(() => server.close());
  const api = createTelegramApi(token, server.url);
  const call = createBotCall(api.raw, { current: (chat) => chat, moved: async () => undefined });
  const fault = (error: unknown) => error as Error;
  return Promise.all([
    api.ask('getUpdates', {}, signal).then(() => new Error('it was taken'), fault),
    call('sendMessage', { chat_id: 1, text: 'x' }).then(() => new Error('it was taken'), fault),
  ]);
}

test('masks the token in a refusal that repeats the URL, and truncates it', async () => {
  const description = `Bad Request: no /bot${token}/getUpdates, no /bot${token}/${'x'.repeat(10_000)}`;
  for (const error of await refusals({ ok: false, error_code: 400, description })) {
    expect(JSON.stringify([error.message, error])).not.toContain(token);
    expect(error.message).toContain('/bot…/getUpdates');
    expect(error.message.length).toBeLessThan(600);
  }
});

test.each([undefined, null, 5, {}])('accepts %j as the description of a refusal', async (description) => {
  for (const error of await refusals({ ok: false, error_code: 429, description, parameters: { retry_after: 7 } }))
    expect(error).toMatchObject({ code: 'busy', details: { retry_after_s: 7 } });
  for (const error of await refusals({ ok: false, error_code: 403, description })) expect(error.name).toBe('ServiceError');
});
