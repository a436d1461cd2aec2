import type { CoreApi } from '@svc/connector-kit';
import { createFakeCore } from '@svc/connector-kit/testing/fake-core.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test, vi } from 'vitest';
import { ask } from './ask.ts';

test('a question that is cancelled while its files are stored starts no turn', async () => {
  const leaving = new AbortController();
  const handleStream = vi.fn();
  const answered = await ask(
    {
      core: { handleStream, resolve: async () => ({ denied: false }) } as unknown as CoreApi,
      clock: createFakeClock(),
      ids: { next: () => 'msg_1' },
      instanceId: 'toolserver',
      saveFiles: async () => (leaving.abort(), []),
      log: () => undefined,
    },
    {
      question: { question: 'What is it?', attachments: [{ name: 'a', text: 'x' }] },
      caller: { userId: 'ann', username: 'Ann' } as never,
      requestId: 'req_1',
      signal: leaving.signal,
      notify: () => undefined,
    },
  );
  expect(answered).toMatchObject({ ok: false });
  expect(handleStream).not.toHaveBeenCalled();
});

test('does not fetch or store files of a client without access', async () => {
  const saveFiles = vi.fn();
  const core = createFakeCore({ denied: true });
  core.script = ({ result }) => result({ outcome: 'denied', actions: [{ type: 'reply', text: 'no access' }] });
  const answered = await ask(
    { core, clock: createFakeClock(), ids: { next: () => 'msg_1' }, instanceId: 'toolserver', saveFiles, log: () => undefined },
    {
      question: { question: 'What is it?', attachments: [{ name: 'a', url: 'https://example.org/a' }] },
      caller: { userId: 'unknown', username: 'Unknown' } as never,
      requestId: 'req_1',
      signal: new AbortController().signal,
      notify: () => undefined,
    },
  );
  expect(answered).toEqual({ ok: false, message: 'no access' });
  expect(saveFiles).not.toHaveBeenCalled();
  expect(core.turns.map(({ envelope }) => envelope.content)).toEqual([{ text: 'What is it?' }]);
});
