import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { startGitHubServer } from '@svc/testing/github-server/index.ts';
import { createGitHubApi } from './github-api.ts';

test('while GitHub wants a pause nothing is asked, and people are told until when, in one text', async () => {
  const clock = createFakeClock(Date.parse('2026-01-01T10:00:00Z'));
  const server = await startGitHubServer();
  onTestFinished(() => server.close());
  const api = createGitHubApi(server.token, server.apiUrl, clock);
  const said = () => api.read('GET /user', {}, AbortSignal.timeout(10_000)).then(String, (error: Error) => error.message);
  server.failNext(/^GET/, { limit: 'secondary', retryAfterS: 3000 });
  expect(await said()).toMatch(/^GitHub wants a pause: /);
  const told = 'GitHub wants a pause until 10:50:00 UTC. It goes on by itself.';
  expect(await said()).toBe(told);
  clock.advance(2_999_000);
  expect(await said()).toBe(told);
  expect(server.calls).toEqual([]);
  clock.advance(1000);
  expect(await said()).not.toContain('pause');
  expect(server.calls).toHaveLength(1);
});
