import { expect, test } from 'vitest';
import { createAtOnce } from './at-once.ts';

test('rejects calls over the limit of a key, and allows them again after earlier ones ended or failed', async () => {
  const atOnce = createAtOnce(2, 'calls');
  const gate = Promise.withResolvers<string>();
  const running = [atOnce('a', () => gate.promise), atOnce('a', () => gate.promise)];
  await expect(atOnce('a', async () => 'no')).rejects.toMatchObject({ code: 'queue_full' });
  expect(await atOnce('b', async () => 'other')).toBe('other');
  gate.reject(new Error('broken'));
  await Promise.allSettled(running);
  expect(await atOnce('a', async () => 'again')).toBe('again');
});
