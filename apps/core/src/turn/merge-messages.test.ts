import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeMessages } from './merge-messages.ts';
import type { MergedMessage } from './turn.ts';

const message = (name: string, text: string, files: string[] = []): MergedMessage => ({
  name,
  envelope: {
    channel: 'chatroom',
    conversation_key: 'chatroom:a:channel:1',
    sender: { raw_id: name },
    content: { text, attachments: files.map((path) => ({ path })) },
  },
});

test('messages of one person are merged into one text with all files', () => {
  const merged = mergeMessages([message('Ann', 'one', ['a']), message('Ann', 'two'), message('Ann', 'three', ['b'])]);
  expect(merged.envelope.content).toEqual({ text: 'one\ntwo\nthree', attachments: [{ path: 'a' }, { path: 'b' }] });
  expect(merged.together).toBeUndefined();
});

test('messages of several people keep their names and their order', () => {
  const merged = mergeMessages([message('Ann', 'who comes?'), message('Bob', 'me\nand Eve'), message('Ann', 'fine')]);
  expect(merged.envelope.content.text).toBe('Ann: who comes?\nBob: me\n  and Eve\nAnn: fine');
  expect(merged.envelope.sender.raw_id).toBe('Ann');
  expect(merged.together).toEqual(['Ann', 'Bob']);
});

test('line breaks in a message cannot forge a line in the name of another person', () => {
  const broken = fc.array(fc.constantFrom('\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', 'Ann: yes', 'no'));
  fc.assert(
    fc.property(broken, broken, (first, second) => {
      const { envelope } = mergeMessages([message('Bob', first.join('')), message('Eve', second.join(''))]);
      const atMargin = envelope.content.text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).filter((line) => !line.startsWith('  '));
      expect(atMargin).toHaveLength(2);
      expect(atMargin.map((line) => line.slice(0, 4))).toEqual(['Bob:', 'Eve:']);
    }),
  );
});
