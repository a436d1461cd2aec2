import type { Message } from 'grammy/types';
import { expect, test } from 'vitest';
import { createMessageEdits } from './message-edits.ts';

const messageOf = (text: string, edit_date?: number): Message =>
  ({ message_id: 7, chat: { id: 5, type: 'private' }, text, ...(edit_date !== undefined && { edit_date }) }) as never;
const create = () => createMessageEdits({ ofMessage: ({ chat, message_id }) => `${chat.id}:${message_id}` });

test('a change that leaves the text as it is makes no version, whatever its date', () => {
  const edits = create();
  edits.saw(messageOf('one'));
  expect([edits.versionOf(messageOf('one')), edits.versionOf(messageOf('one', 90))]).toEqual([null, null]);
  edits.note(messageOf('two', 100), 100_000);
  expect([edits.versionOf(messageOf('two', 100)), edits.versionOf(messageOf('two', 110))]).toEqual([null, null]);
});

test('the versions of edits grow, also within a second and back to an earlier text', () => {
  const edits = create();
  edits.saw(messageOf('one'));
  const versions = ['two', 'one', 'three'].map((text) => {
    const version = edits.versionOf(messageOf(text, 100)) ?? 0;
    edits.note(messageOf(text, 100), version);
    return version;
  });
  expect(versions).toEqual([100_000, 100_001, 100_002]);
});

test('the date decides about an unknown message, and about an edit that was not taken', () => {
  const edits = create();
  expect([edits.versionOf(messageOf('one')), edits.versionOf(messageOf('two', 100))]).toEqual([null, 100_000]);
  edits.note(messageOf('two', 100), 100_000);
  edits.forget(messageOf('two', 100));
  expect(edits.versionOf(messageOf('two', 100))).toBe(100_000);
});
