import { expect, onTestFinished, test, vi } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { type Conversation, fingerprintOf } from './conversation.ts';
import { createWarmConversations, idleMs } from './warm-conversations.ts';

const request = engineRequest({ prompt: 'hi', cwd: '/', resume: 'session-1' });

/** A program that ends when the test says so. */
function openProgram() {
  const ended = Promise.withResolvers<void>();
  const conversation = {
    alive: true,
    sessionId: 'session-1',
    fingerprint: fingerprintOf(request),
    canHave: () => true,
    close: () => ended.promise,
  } as unknown as Conversation;
  return { conversation, end: ended.resolve };
}

test('a turn takes the program that was kept for it', async () => {
  const warm = createWarmConversations({ limit: 1, memory: 1e9 });
  const { conversation, end } = openProgram();
  warm.keep(request.conversationKey, conversation);
  expect(await warm.take(request)).toBe(conversation);
  end();
  await warm.close();
});

test.each([
  ['none is kept', 0],
  ['it was idle for too long', 1],
])('a turn waits for the end of its program that is being closed because %s', async (_why, limit) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const warm = createWarmConversations({ limit, memory: 1e9 });
  const { conversation, end } = openProgram();
  warm.keep(request.conversationKey, conversation);
  await vi.advanceTimersByTimeAsync(idleMs);
  let hasTaken = false;
  const taken = warm.take(request).finally(() => (hasTaken = true));
  expect(await warm.take({ ...request, conversationKey: 'another' })).toBeNull();
  await vi.advanceTimersByTimeAsync(0);
  expect(hasTaken).toBe(false);
  end();
  expect(await taken).toBeNull();
  await warm.close();
});
