import type { CoreApi } from '@svc/connector-kit';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test, vi } from 'vitest';
import { ask } from './ask.ts';

test('a question that is cancelled while its files are stored begins no turn', async () => {
  const leaving = new AbortController();
  const handleStream = vi.fn();
  const answered = await ask(
    {
      core: { handleStream } as unknown as CoreApi,
      clock: createFakeClock(),
      ids: { next: () => 'msg_1' },
      instanceId: 'toolserver',
      saveFiles: async () => (leaving.abort(), []),
      log: () => undefined,
    },
    {
      question: { question: 'What is it?' },
      caller: { userId: 'ann', username: 'Ann' } as never,
      requestId: 'req_1',
      signal: leaving.signal,
      notify: () => undefined,
    },
  );
  expect(answered).toMatchObject({ ok: false });
  expect(handleStream).not.toHaveBeenCalled();
});
