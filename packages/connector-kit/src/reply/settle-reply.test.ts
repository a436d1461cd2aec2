import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import type { ChatGate } from './chat-gate.ts';
import type { ReplyMessages } from './reply-messages.ts';
import { settleReply } from './settle-reply.ts';

test('an abort just before the pause after a failed write ends it at once', async () => {
  const end = new AbortController();
  const clock = createFakeClock();
  const settling = settleReply(
    {
      clock,
      gate: { run: (_chat, write) => write() } as Pick<ChatGate, 'run'> as ChatGate,
      chat: 'c1',
      messages: {
        isDone: () => false,
        count: () => 0,
        mustFind: () => false,
        post: () => Promise.reject(new Error('no answer')),
      } as Partial<ReplyMessages> as ReplyMessages,
      whenGone: 'end',
      withinMs: 60_000,
      log: () => undefined,
      random() {
        end.abort(new Error('the turn is over'));
        return 0;
      },
    },
    { pieces: ['hello'], cuts: [], extras: [] },
    end.signal,
  );
  await expect(settling).rejects.toThrow('the turn is over');
});
