import { describe, expect, test } from 'vitest';
import { parseLine } from './link-requests.ts';

const as = { channel: 'shop', sender: { raw_id: 'ann' } };
const conversation = { as, conversation_key: 'shop:s1:user:ann' };
const problemsOf = (request: object): string => parseLine(JSON.stringify({ id: 1, ...request }), true).problems;

describe('request limits', () => {
  test.each([
    ['a message that was deleted', { op: 'amend', ...conversation, message_id: 'm1', version: 2, text: null }],
    ['a long message that was edited', { op: 'amend', ...conversation, message_id: 'm1', version: 2, text: 'x'.repeat(50_000) }],
    ['a long text to say', { op: 'inject', ...conversation, text: 'x'.repeat(50_000) }],
    ['an answer', { op: 'answer', ...conversation, ask_id: 'a1', option: 'yes' }],
  ])('accepts %s', (_name, request) => {
    expect(problemsOf(request)).toBe('');
  });

  test.each([
    ['an answer that is too long', { op: 'answer', ...conversation, ask_id: 'a1', text: 'x'.repeat(201) }],
    ['an answer without words', { op: 'answer', ...conversation, ask_id: 'a1', text: null }],
    ['an answer of nobody', { op: 'answer', conversation_key: 'k', ask_id: 'a1', option: 'yes' }],
    ['an edit of nobody', { op: 'amend', conversation_key: 'k', message_id: 'm1', version: 2, text: 'x' }],
    ['an edit whose text is a number', { op: 'amend', ...conversation, message_id: 'm1', version: 2, text: 1 }],
    ['a text to say that is no string', { op: 'inject', ...conversation, text: null }],
  ])('rejects %s', (_name, request) => {
    expect(problemsOf(request)).not.toBe('');
  });
});
