import { expect, test } from 'vitest';
import { readOwnMessage } from './own-message.ts';

test.each([null, 'ready', 7, {}, { type: 'heartbeat' }])('%j is for others', (message) => {
  expect(readOwnMessage(message)).toBeNull();
});

test('a child says that it is ready, with what it likes, or why it failed', () => {
  expect(readOwnMessage({ type: 'ready', port: 1 })).toEqual({ type: 'ready', fields: { port: 1 } });
  expect(readOwnMessage({ type: 'failed', message: 'why' })).toEqual({ type: 'failed', message: 'why' });
});

test('a reason that is no text breaks nothing', () => {
  const message = { toString: 1, valueOf: 1 };
  expect(readOwnMessage({ type: 'failed', message })).toEqual({ type: 'failed', message: expect.any(String) });
});
