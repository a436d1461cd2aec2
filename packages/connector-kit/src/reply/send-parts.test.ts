import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createSimulatedState } from '../../test/simulated-chat.ts';
import { sendParts } from './send-parts.ts';

test('resumes after the parts already sent, and sends each part once', async () => {
  const state = createSimulatedState().open(() => false);
  const posted: string[] = [];
  const nonces = new Set<string>();
  let fails = true;
  const post = async ({ text, nonce }: { text: string; nonce: string }) => {
    nonces.add(nonce);
    if (text === 'b' && fails) throw new TypeError('no luck');
    posted.push(text);
    return text;
  };
  const giveUp = new AbortController();
  const sending = { id: 'd1', chat: 'room', parts: ['a', 'b', 'c'], post, state, log: () => undefined, clock: createFakeClock() };
  const first = sendParts({ ...sending, signal: giveUp.signal });
  await expect.poll(() => nonces.size).toBe(2);
  giveUp.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  fails = false;
  await sendParts(sending);
  await sendParts(sending);
  expect([posted, nonces.size]).toEqual([['a', 'b', 'c'], 3]);
});
