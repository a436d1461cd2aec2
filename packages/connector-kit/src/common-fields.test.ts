import { expect, test, vi } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { ruleNames, ruleShapes } from '@svc/contract/instance-rules.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { CoreApi, StreamHandlers } from './connector.ts';
import { commonFields } from './common-fields.ts';
import { withCommonFields } from './reply-style.ts';

test('commonFields() returns exactly the fields that are named', () => {
  expect(Object.keys(commonFields('engine', 'public', 'debounce_ms'))).toEqual(['engine', 'public', 'debounce_ms']);
});

test('fields that the core enforces are marked as such and have the shape that the core accepts', () => {
  for (const name of ruleNames) {
    expect(commonFields(name)[name]).toMatchObject({ ...ruleShapes[name], enforcedBy: 'core', title: expect.any(String) });
  }
  for (const name of ['mention_only', 'reply_style', 'debounce_ms', 'pairing'] as const) {
    expect(commonFields(name)[name]).not.toHaveProperty('enforcedBy');
  }
});

const envelope: Envelope = {
  channel: 'messenger',
  conversation_key: 'messenger:a:channel:1',
  sender: { raw_id: '1' },
  content: { text: 'hi' },
};

function core() {
  const handled: { envelope: Envelope; handlers?: StreamHandlers }[] = [];
  const result: HandleResult = { actions: [], outcome: 'silent', conversation_key: '', turn_id: '' };
  const api: CoreApi = {
    handle: async (given) => (handled.push({ envelope: given }), result),
    handleStream: async (given, handlers) => (handled.push({ envelope: given, handlers }), result),
    delivered: vi.fn(),
    answer: vi.fn(),
    amend: vi.fn(),
    resolve: vi.fn(),
    checkout: vi.fn(),
    sessions: {} as CoreApi['sessions'],
  };
  return { api, handled };
}

test('returns the core unchanged when no common field is set', () => {
  const { api } = core();
  expect(withCommonFields(api, { reply_style: 'stream', mention_only: false })).toBe(api);
});

test('mention_only sends messages that do not mention the assistant as async, streamed or not', async () => {
  const { api, handled } = core();
  const held = withCommonFields(api, { mention_only: true });
  await held.handle({ ...envelope, mentioned: false });
  await held.handleStream({ ...envelope, mentioned: false }, {});
  await held.handle({ ...envelope, mentioned: true });
  await held.handle(envelope);
  expect(handled.map(({ envelope: { delivery } }) => delivery)).toEqual(['async', 'async', undefined, undefined]);
  expect(handled[1]?.handlers).toBeUndefined();
});

const every = ['onQueued', 'onDelta', 'onSegment', 'onThinking', 'onTool', 'onToolResult', 'onRetract', 'onFlush'] as const;

test.each([
  ['stream', every],
  ['steps', ['onQueued', 'onSegment', 'onTool', 'onToolResult', 'onRetract', 'onFlush']],
  ['final', ['onQueued', 'onRetract', 'onFlush']],
  ['of another version', every],
])('the reply style %s gives a connector %j', async (reply_style, heard) => {
  const { api, handled } = core();
  const handlers = Object.fromEntries(every.map((name) => [name, () => undefined]));
  await withCommonFields(api, { reply_style }).handleStream(envelope, handlers);
  const given = handled[0]?.handlers ?? {};
  expect(every.filter((name) => given[name] !== undefined)).toEqual(heard);
});
