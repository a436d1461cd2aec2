import { expect, test } from 'vitest';
import { readOwnMessage } from './own-message.ts';

test.each([null, 'ready', 7, {}, { type: 'heartbeat' }])('ignores %j', (message) => {
  expect(readOwnMessage(message)).toBeNull();
});

test('reads a ready message with its fields, and a failure with its reason', () => {
  expect(readOwnMessage({ type: 'ready', port: 1 })).toEqual({ type: 'ready', fields: { port: 1 } });
  expect(readOwnMessage({ type: 'failed', message: 'why' })).toEqual({ type: 'failed', message: 'why' });
});

test('tolerates a reason that is not a text', () => {
  const message = { toString: 1, valueOf: 1 };
  expect(readOwnMessage({ type: 'failed', message })).toEqual({ type: 'failed', message: expect.any(String) });
});
