import { expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { knownFields } from './check-envelope.ts';

test('knownFields() keeps every field of the contract and drops unknown ones, except in channel_context', () => {
  const known: Required<Envelope> = {
    channel: 'shell',
    conversation_key: 'shell:local:1',
    message_id: 'm1',
    sender: { raw_id: 'a', raw_username: 'b' },
    content: {
      text: 'hi',
      system: 'be kind',
      transcript: [{ role: 'user', text: 'hello' }],
      attachments: [{ path: '/a', name: 'a', mime: 'b', bytes: 1 }],
    },
    delivery: 'sync',
    capabilities: { max_message_chars: 10 },
    mentioned: true,
    public: false,
    keeps: true,
    intake: { debounce_ms: 1, pairing: true },
    workspace: { checkout: 'co_1' },
    device_tools: [{ name: 'locate', description: 'a', policy: 'read', min_trust: 'KNOWN', input: {} }],
    channel_context: { target: 'x', anything: { at: ['all'] } },
  };
  expect(knownFields(known)).toEqual(known);
  const { sender, content } = known;
  const odd = { ...known, odd: {}, sender: { ...sender, odd: [] }, content: { ...content, odd: 1 }, intake: { odd: 1 } };
  expect(knownFields(odd as Envelope)).toEqual({ ...known, intake: {} });
});
