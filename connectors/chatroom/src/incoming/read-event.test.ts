import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOlder, readEvent, timeOf } from './read-event.ts';

const message = { id: '175928847299117063', channel_id: '5', author: { id: '7', username: 'ann' }, content: 'hi', type: 0 };
const read = (t: string, d: unknown) => readEvent({ t, d } as never);

test('reads a message, and an update as an edit only if its author changed it', () => {
  expect(read('MESSAGE_CREATE', message)).toEqual({ kind: 'message', message });
  expect(read('MESSAGE_UPDATE', { ...message, edited_timestamp: null })).toBeNull();
  const edited = { ...message, edited_timestamp: '2026-01-01T00:00:00Z' };
  expect(read('MESSAGE_UPDATE', edited)).toEqual({ kind: 'edited', message: edited });
});

test.each([
  { id: 5 },
  { id: '../1' },
  { content: null },
  { author: {} },
  { embeds: [null] },
  { mentions: [{ id: 'x' }] },
  { mention_roles: [5] },
  { attachments: {} },
  { message_snapshots: [{}] },
  { referenced_message: { id: '1' } },
])('ignores a message with %j', (fields) => {
  expect(read('MESSAGE_CREATE', { ...message, ...fields })).toBeNull();
});

test('does not throw on any event data', () => {
  const kinds = [
    'MESSAGE_CREATE',
    'MESSAGE_UPDATE',
    'MESSAGE_DELETE',
    'MESSAGE_DELETE_BULK',
    'MESSAGE_REACTION_ADD',
    'INTERACTION_CREATE',
    'X',
  ];
  fc.assert(fc.property(fc.constantFrom(...kinds), fc.jsonValue(), (kind, data) => void read(kind, data)));
});

test('timeOf() reads the time of an id, and isOlder() compares ids of different lengths', () => {
  expect(timeOf('175928847299117063')).toBe(1_462_015_105_796);
  expect(isOlder('999', '1000')).toBe(true);
});
