import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeAll(async () => {
  core = await openTestCore();
});
afterAll(() => core.close());

const long = (length: number) => 'x'.repeat(length);
const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
const file = (path: string, over: object = {}) => ({ content: { text: 'hi', attachments: [{ path, ...over }] } });
const context = (channel_context: Record<string, unknown>) => ({ channel_context });

describe('length limits of an envelope', () => {
  test.each<[string, object]>([
    ['conversation_key', { conversation_key: long(513) }],
    ['message_id', { message_id: long(513) }],
    ['sender.raw_id', { sender: { raw_id: long(257) } }],
    ['sender.raw_username', { sender: { raw_id: 'owner', raw_username: long(257) } }],
    ['channel', { channel: long(33) }],
    ['content.text', { content: { text: long(1_000_001) } }],
    ['content.system', { content: { text: 'hi', system: long(200_001) } }],
    ['content.transcript.0.text', { content: { text: 'hi', transcript: [{ role: 'user', text: long(1_000_001) }] } }],
    ['content.transcript', { content: { text: 'hi', transcript: times(10_001, { role: 'user', text: '' }) } }],
    ['content.attachments', { content: { text: 'hi', attachments: times(33, { path: '/x' }) } }],
    ['content.attachments.0.path', file(long(4097))],
    ['content.attachments.0.name', file('/x', { name: long(256) })],
    ['content.attachments.0.mime', file('/x', { mime: long(128) })],
    ['content.attachments.0.bytes', file('/x', { bytes: 1e300 })],
    ['capabilities.max_message_chars', { capabilities: { max_message_chars: 1e300 } }],
    ['intake.debounce_ms', { intake: { debounce_ms: 60_001 } }],
    ['channel_context.channelId', context({ channelId: long(1025) })],
    ['channel_context.chatId', context({ chatId: long(1025) })],
    ['channel_context.target', context({ target: long(9_000_000) })],
    ['channel_context.channelId', context({ channelId: 2 ** 60 })],
    ['channel_context.target', context({ target: -1e300 })],
    ['channel_context', context({ thing: long(65_536) })],
    ['channel_context', context(Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, 1])))],
    ['channel_context', context({ deep: nested(8) })],
    ['channel_context', context({ deep: JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`) })],
  ])('rejects a value over the limit: %s', async (field, over) => {
    const response = await core.handle(envelope('hi', over as Partial<Envelope>));
    expect(response.statusCode).toBe(400);
    expect(response.json<{ fields: { field: string }[] }>().fields.map((each) => each.field)).toContain(`body.${field}`);
  });

  test.each<[string, object]>([
    ['conversation_key', { conversation_key: `compat:c1:${long(502)}` }],
    ['message_id', { message_id: long(512) }],
    ['sender.raw_username', { sender: { raw_id: 'owner', raw_username: long(256) } }],
    ['channel_context', context({ chatId: long(1024), deep: nested(6), more: long(60_000), none: null })],
    ['a number as target', context({ channelId: 7 })],
    ['the largest number as target', context({ chatId: -Number.MAX_SAFE_INTEGER })],
  ])('accepts a value at the limit: %s', async (_field, over) => {
    expect((await core.handle(envelope('hi', over as Partial<Envelope>))).json()).toMatchObject({ outcome: 'replied' });
  });
});

test.each(['\0', '\n', '\u001b', '\u007f'])(
  'rejects %j in keys, message ids and targets, and treats a sender with it as a stranger',
  async (sign) => {
    const stranger = await core.handle(envelope('hi', { sender: { raw_id: `owner${sign}` } }));
    expect(stranger.json()).toMatchObject({ outcome: 'denied' });
    for (const over of [
      { conversation_key: `compat:c1:${sign}` },
      { message_id: `m${sign}` },
      { channel_context: { chatId: `room${sign}` } },
    ]) {
      expect((await core.handle(envelope('hi', over))).statusCode).toBe(400);
    }
    const grant = { role_id: 'guest', scope: { conversation_key: `k${sign}` } };
    const response = await core.app.inject({ method: 'POST', url: '/trust/principals/owner/grants', payload: grant });
    expect(response.statusCode).toBe(400);
  },
);
