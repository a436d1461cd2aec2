import { expect, test } from 'vitest';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { createMemoryState } from '@svc/testing/memory-state.ts';
import { startTelegramServer } from '@svc/testing/telegram-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';
import { openMessenger, type OpenMessenger } from './open-messenger.ts';

const quiet = ({ core }: OpenMessenger) => void (core.script = ({ result }) => result({ outcome: 'silent' }));

/** The error of a failed start. */
async function failure(config: Partial<Config>, token: string): Promise<string> {
  const folder = temporaryFolder();
  try {
    const whole = { ...defaultsOf(meta), bot_token_secret_key: 'TOKEN', http_port: 0, ...config };
    const { context } = fakeContext({ type: meta.type, dataDir: folder.path, config: whole }, { TOKEN: token });
    return await start(context as unknown as StartContext<Config>).then(
      () => 'it started',
      (error: Error) => error.message + String(error.cause),
    );
  } finally {
    folder.remove();
  }
}

test('reports an invalid token with advice how to get another, and never repeats the token', async () => {
  const server = await startTelegramServer();
  const wrong = '99999:AAEthis-token-is-not-known-here';
  for (const token of [wrong, 'no token at all', `${server.token}/getMe?`, '']) {
    const said = await failure({ api_root: server.apiRoot }, token);
    expect(said).toMatch(/@BotFather/);
    if (token !== '') expect(said).not.toContain(token);
  }
  await server.close();
  const gone = await failure({ api_root: server.apiRoot }, wrong);
  expect(gone).toMatch(/^Telegram cannot be reached \(ECONNREFUSED\)/);
  expect(gone).not.toContain(wrong);
});

test('reports another program that polls in the health, and polls again when it is gone', async () => {
  const channel = await openMessenger();
  quiet(channel);
  const { server, core } = channel;
  await expect.poll(() => server.calls.at(-1)?.method).toBe('getUpdates');
  await fetch(`${server.apiRoot}/bot${server.token}/getUpdates`);
  await expect
    .poll(() => channel.health())
    .toEqual({ healthy: false, detail: expect.stringContaining('Another program is receiving the updates') });
  await expect.poll(() => channel.health()).toEqual({ healthy: true });
  server.say({ from: server.person('Ann'), text: 'hello' });
  await expect.poll(() => core.turns.length).toBe(1);
  expect(channel.logs.join()).not.toContain(server.token);
});

test('restarts while Telegram is unreachable', async () => {
  const channel = await openMessenger();
  const { server } = channel;
  server.failNext(/^getMe$/, 'cut before');
  await channel.restart();
  server.say({ from: server.person('Ann'), text: 'hello' });
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
});

test('opens the channel while the disk is full', async () => {
  const full = {
    ...createMemoryState(),
    change: () => Promise.reject(new ServiceError('insufficient_storage', 'the disk is full')),
  };
  const channel = await openMessenger({ context: { state: full } });
  expect(channel.health()).toEqual({ healthy: true });
  expect(channel.logs.join()).toContain('the bot of this connector could not be saved');
});

test('loses and repeats nothing with cut connections, errors, and duplicate or late updates', async () => {
  const random = (() => {
    let seed = 7;
    return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  })();
  const channel = await openMessenger({ server: { updateFaults: { random, twice: 0.3, outOfOrder: 0.3 } } });
  quiet(channel);
  const { server, core } = channel;
  const faults = ['cut before', 'cut after', { status: 502, when: 'before' }, { retryAfterS: 1 }] as const;
  const people = Array.from({ length: 5 }, (_, n) => server.person(`P${n}`));
  for (let n = 0; n < 40; n++) {
    if (n % 10 === 5) server.failNext(/^getUpdates$/, faults[(n / 10) | 0] ?? 'cut before');
    server.say({ from: people[n % 5]!, text: String(n) });
  }
  await expect.poll(() => core.turns.length, { timeout: 25_000 }).toBe(40);
  const texts = core.turns.map(({ envelope }) => Number(envelope.content.text));
  for (let n = 0; n < 5; n++) {
    const own = texts.filter((text) => text % 5 === n);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(new Set(texts).size).toBe(40);
}, 40_000);

test('the webhook rejects requests without its secret or over the size limit', async () => {
  const [port = 0] = await freePorts(1);
  const webhook_url = `http://127.0.0.1:${port}/telegram`;
  const channel = await openMessenger({ config: { webhook_url, webhook_port: port }, server: { webhookRetryMs: 50 } });
  quiet(channel);
  const { server, core } = channel;
  await expect.poll(() => server.calls.map(({ method }) => method)).toContain('setWebhook');
  server.say({ from: server.person('Ann'), text: 'hello' });
  await expect.poll(() => core.turns.length).toBe(1);
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
  const post = (headers: Record<string, string>, body = '{"update_id":1}') =>
    fetch(webhook_url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }).then(
      ({ status }) => status,
    );
  expect(await post({})).toBe(401);
  expect(await post({ 'x-telegram-bot-api-secret-token': 'wrong' })).toBe(401);
  const secret = String(server.calls.find(({ method }) => method === 'setWebhook')?.params['secret_token']);
  expect(await post({ 'x-telegram-bot-api-secret-token': secret })).toBe(200);
  expect(await post({ 'x-telegram-bot-api-secret-token': secret }, `"${'x'.repeat(1_100_000)}"`)).toBe(413);
  expect(server.calls.map(({ method }) => method)).not.toContain('getUpdates');
});

test('an album that is pushed is one message, also when the connector is restarted meanwhile', async () => {
  const [port = 0] = await freePorts(1);
  const webhook_url = `http://127.0.0.1:${port}/telegram`;
  const channel = await openMessenger({ config: { webhook_url, webhook_port: port }, server: { webhookRetryMs: 50 } });
  quiet(channel);
  const { server } = channel;
  const from = server.person('Ann');
  const parts = ['a', 'b', 'c'].map((name) => ({ kind: 'document' as const, name, bytes: Buffer.from(name) }));
  server.sendAlbum({ from, caption: 'look', parts });
  server.say({ from, text: 'hello' });
  const textsOf = () => channel.core.turns.map(({ envelope: { content } }) => [content.text, content.attachments?.length]);
  await expect.poll(textsOf).toEqual([
    ['look', 3],
    ['hello', undefined],
  ]);
  channel.core.handleStream = () => Promise.reject(new ServiceError('unavailable', 'the core is away'));
  server.sendAlbum({ from, caption: 'again', parts });
  await expect.poll(() => server.pendingUpdates()).toEqual([]);
  await channel.restart();
  quiet(channel);
  await expect.poll(textsOf).toEqual([['again', 3]]);
});
