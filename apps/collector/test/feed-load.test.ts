import { expect, test, vi } from 'vitest';
import { openTestCollector } from './open-test-collector.ts';

const createSocketFeed = vi.hoisted(() => vi.fn());
vi.mock('../src/feed/socket-feed.ts', () => ({ createSocketFeed }));

test('a live feed that failed to load is tried again, and does not affect the collector', async () => {
  createSocketFeed.mockImplementation(() => {
    throw new Error('no memory');
  });
  const collector = openTestCollector();
  expect((await collector.app.inject('/socket.io/')).statusCode).toBe(500);
  expect((await collector.app.inject('/socket.io/')).statusCode).toBe(500);
  expect(createSocketFeed).toHaveBeenCalledTimes(2);
  await expect(collector.close()).resolves.toBeUndefined();
});
