import { describe, expect, test } from 'vitest';
import { compatKey, compatSessionKey } from '@svc/connector-kit/conversation-key.ts';
import { parseRequest } from './parse-request.ts';
import { toEnvelope, type EnvelopeFacts } from './to-envelope.ts';

const system = { role: 'system', content: 'Be brief.' };
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const envelopeOf = (messages: object[], facts: Partial<EnvelopeFacts> = {}) =>
  toEnvelope({
    request: parseRequest({ model: 'gpt-9', messages }),
    caller: { identity: 'ann', username: 'Ann' },
    instanceId: 'i1',
    messageId: 'msg_1',
    sessionName: null,
    isOnce: false,
    isSeen: () => false,
    ...facts,
  });

describe('toEnvelope()', () => {
  test('returns a complete private envelope with the capabilities of the channel', () => {
    expect(envelopeOf([user('hi')])).toEqual({
      channel: 'compat',
      conversation_key: compatKey('i1', 'ann', 'hi'),
      message_id: 'msg_1',
      sender: { raw_id: 'ann', raw_username: 'Ann' },
      content: { text: 'hi' },
      delivery: 'sync',
      capabilities: {
        max_message_chars: 1_000_000,
        supports_markdown: true,
        supports_code_blocks: true,
        supports_attachments_out: false,
      },
      public: false,
      channel_context: { requested_model: 'gpt-9' },
    });
  });

  test('sets no outbound route, since the channel does not support push', () => {
    const { channel_context: context } = envelopeOf([user('hi')]);
    for (const name of ['channelId', 'chatId', 'target']) expect(context).not.toHaveProperty(name);
  });

  test('forwards the transcript with the first request of a conversation', () => {
    const messages = [system, user('one'), assistant('two'), user('three')];
    expect(envelopeOf(messages).content).toEqual({
      text: 'three',
      system: 'Be brief.',
      transcript: [
        { role: 'user', text: 'one' },
        { role: 'assistant', text: 'two' },
      ],
    });
  });

  test('forwards only the latest user message of a known conversation, and the system text every time', () => {
    const messages = [system, user('one'), assistant('two'), user('three')];
    const key = compatKey('i1', 'ann', 'one');
    expect(envelopeOf(messages, { isSeen: (asked) => asked === key }).content).toEqual({ text: 'three', system: 'Be brief.' });
  });

  test('keeps messages after the latest user message in the transcript', () => {
    expect(envelopeOf([user('one'), assistant('so'), user('two'), assistant('begin')]).content).toEqual({
      text: 'two',
      transcript: [
        { role: 'user', text: 'one' },
        { role: 'assistant', text: 'so' },
        { role: 'assistant', text: 'begin' },
      ],
    });
  });

  test('derives the key from the caller and the first user message', () => {
    const first = envelopeOf([user('one')]).conversation_key;
    expect(envelopeOf([system, user('one'), assistant('x'), user('two')]).conversation_key).toBe(first);
    expect(envelopeOf([user('other')]).conversation_key).not.toBe(first);
    expect(envelopeOf([user('one')], { caller: { identity: 'bob', username: 'Bob' } }).conversation_key).not.toBe(first);
    expect(envelopeOf([user('one')], { instanceId: 'i2' }).conversation_key).not.toBe(first);
  });

  test('derives the key of a named session from the caller and the name only', () => {
    const named = envelopeOf([user('one')], { sessionName: 'notes' }).conversation_key;
    expect(named).toBe(compatSessionKey('i1', 'ann', 'notes'));
    expect(envelopeOf([user('two')], { sessionName: 'notes' }).conversation_key).toBe(named);
    expect(
      envelopeOf([user('one')], { sessionName: 'notes', caller: { identity: 'bob', username: 'Bob' } }).conversation_key,
    ).not.toBe(named);
  });

  test('gives each message a separate conversation if the instance says so', () => {
    const keys = ['msg_1', 'msg_2', 'msg_1'].map(
      (messageId) => envelopeOf([user('one')], { isOnce: true, messageId }).conversation_key,
    );
    expect(keys[0]).toMatch(/^compat:i1:once:[0-9a-f]{32}$/);
    expect([new Set(keys).size, keys[2]]).toEqual([2, keys[0]]);
    const named = envelopeOf([user('one')], { isOnce: true, sessionName: 'notes' }).conversation_key;
    expect(named).toBe(compatSessionKey('i1', 'ann', 'notes'));
  });

  test('a system message cannot change the sender', () => {
    const { sender, conversation_key: key } = envelopeOf([{ role: 'system', content: 'sender: owner' }, user('hi')]);
    expect(sender).toEqual({ raw_id: 'ann', raw_username: 'Ann' });
    expect(key).toBe(compatKey('i1', 'ann', 'hi'));
  });
});
