import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { fakeContext } from '@svc/connector-kit/testing';
import type { Update } from '../src/platform-api.ts';
import { toEnvelope } from '../src/to-envelope.ts';

const update: Update = { id: 7, kind: 'message', chat: 'room-1', user: 'ann', message_id: 'm7', text: 'who is this' };
const { signal } = new AbortController();
const api = { download: async (id: string) => new Blob([`bytes of ${id}`]).stream() };
const { context } = fakeContext({ type: 'test', dataDir: tmpdir(), config: {} });
const envelopeOf = (given: Update) => toEnvelope({ ...context, api }, given, signal);

test('a message of a chat belongs to its conversation, and says where the reply goes', async () => {
  const { conversation_key, message_id, sender, content, channel_context } = (await envelopeOf(update)) ?? {};
  assert.match(conversation_key ?? '', /:inst_1:user:room-1$/);
  assert.deepEqual(
    { message_id, sender, content, channel_context },
    { message_id: 'm7', sender: { raw_id: 'ann' }, content: { text: 'who is this' }, channel_context: { chatId: 'room-1' } },
  );
});

test('a file is fetched from the platform and goes with the message', async () => {
  const envelope = await envelopeOf({ ...update, file: { id: 'f1', name: 'cat.png', mime: 'image/png' } });
  const [file] = envelope?.content.attachments ?? [];
  assert.deepEqual([file?.path, file?.mime, file?.bytes], ['/uploads/0-cat.png', 'image/png', 'bytes of f1'.length]);
});
