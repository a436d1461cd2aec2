import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { flaggedWord, startModerationServer, type ModerationServer } from '@svc/testing/moderation-server.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { createOpenAiProvider } from './openai-provider.ts';

const key = 'sk-moderation-0123456789';
const never = new AbortController().signal;
const asked = { signal: never, onUsage: () => undefined };

let server: ModerationServer;
beforeAll(async () => void (server = await startModerationServer(key)));
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.mishaps.length = 0;
});

const open = (over: { timeoutMs?: number; baseUrl?: string } = {}) => {
  const clock = createFakeClock();
  const options = { baseUrl: server.baseUrl, model: 'm', keyOf: async () => new Secret(key), clock, ...over };
  return { clock, provider: createOpenAiProvider(options) };
};

test('an endpoint that does not answer times out and is not called again for a while', async () => {
  const { provider, clock } = open({ timeoutMs: 1000 });
  server.mishaps.push('hang');
  await expect(provider.flagged(['hi'], asked)).rejects.toThrow('the moderation endpoint did not answer for 1 s');
  await expect(provider.flagged(['hi'], asked)).rejects.toThrow('did not answer');
  expect(server.requests).toHaveLength(1);
  expect(provider.fault()).toContain('did not answer');
  clock.advance(5000);
  expect(await provider.flagged(['hi'], asked)).toEqual([false]);
  expect(provider.fault()).toBeNull();
});

test('a paused endpoint is called again in time even when the clock is set back by hours', async () => {
  const { provider, clock } = open({ timeoutMs: 1000 });
  server.mishaps.push('hang');
  await expect(provider.flagged(['hi'], asked)).rejects.toThrow('did not answer');
  clock.setBack(3 * 3_600_000);
  clock.advance(5000);
  expect(await provider.flagged(['hi'], asked)).toEqual([false]);
});

test('an unreachable endpoint rejects with ECONNREFUSED', async () => {
  const { provider } = open({ baseUrl: 'http://127.0.0.1:1/v1/' });
  await expect(provider.flagged(['hi'], asked)).rejects.toThrow('ECONNREFUSED');
});

test('aborting the turn is not recorded as a fault of the endpoint', async () => {
  const { provider } = open();
  const end = new AbortController();
  server.mishaps.push('hang');
  const flagged = provider.flagged(['hi'], { ...asked, signal: end.signal });
  await expect.poll(() => server.requests.length).toBe(1);
  end.abort(new Error('stopped'));
  await expect(flagged).rejects.toThrow('stopped');
  expect(provider.fault()).toBeNull();
});

test('many texts are sent in several calls, without duplicates and blank ones', async () => {
  const { provider } = open();
  const texts = [...Array.from({ length: 70 }, (_, i) => `text ${i % 40} ${i === 7 ? flaggedWord : ''}`), '', '  '];
  const flags = await provider.flagged(texts, asked);
  expect(flags.map((flag, index) => (flag ? index : -1)).filter((index) => index !== -1)).toEqual([7]);
  expect(server.requests.map(({ input }) => input.length)).toEqual([32, 9]);
});

test.each([19_990, 20_000, 39_000])('a word across the cut of a long text (at %i) is found', async (at) => {
  const { provider } = open();
  const text = `${'x'.repeat(at - 5)}${flaggedWord}${'y'.repeat(30_000)}`;
  expect(await provider.flagged([text], asked)).toEqual([true]);
  expect(server.requests.flatMap(({ input }) => input).every((input) => input.length <= 20_000)).toBe(true);
});
