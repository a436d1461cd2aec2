import { expect, test } from 'vitest';
import { parseChildMessage } from './handle-child-message.ts';

test('accepts valid messages of a connector process', () => {
  const event = { kind: 'inbound', text: 'hello', ts: 1, billed: true, payload: { any: ['thing'] }, session: null };
  for (const message of [
    { type: 'heartbeat' },
    { type: 'problem', text: 'away' },
    { type: 'problem', text: null },
    { type: 'emit', event },
    { type: 'secret', requestId: 1, name: 'TOKEN' },
  ])
    expect(parseChildMessage(message)).toEqual(message);
});

test.each([
  null,
  'heartbeat',
  [],
  { type: 'secret', requestId: '1', name: 'TOKEN' },
  { type: 'secret', requestId: 1, name: 'TOKEN\ud800' },
  { type: 'problem' },
  { type: 'problem', text: { length: 3 } },
  { type: 'emit', event: null },
  { type: 'emit', event: { kind: 1 } },
  { type: 'emit', event: { kind: 'x', id: 5 } },
  { type: 'emit', event: { kind: 'x', text: { length: 3 } } },
  { type: 'emit', event: { kind: 'x', ts: 'now' } },
  { type: 'emit', event: { kind: 'x', payload: 'text' } },
])('rejects %j', (message) => {
  expect(parseChildMessage(message)).toBeNull();
});
