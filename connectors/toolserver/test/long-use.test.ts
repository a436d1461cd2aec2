import { expect, onTestFinished, test, vi } from 'vitest';
import { codeFor, redeem, refresh, registered } from './authorize.ts';
import { openToolserver } from './open-toolserver.ts';

const dayMs = 24 * 60 * 60_000;

test('a program that is used stays signed in for longer than 90 days, and an unused one does not', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await openToolserver();
  const client = await registered(server);
  let { body } = await redeem(server, client, await codeFor(server, client));
  for (let times = 0; times < 3; times++) {
    vi.setSystemTime(Date.now() + 80 * dayMs);
    const renewed = await refresh(server, client, body.refresh_token ?? '');
    expect([renewed.status, renewed.body.error]).toEqual([200, undefined]);
    body = renewed.body;
  }
  vi.setSystemTime(Date.now() + 91 * dayMs);
  expect((await refresh(server, client, body.refresh_token ?? '')).body.error).toBe('invalid_grant');
});
