import { expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Message } from 'grammy/types';
import { createFileWords } from './file-words.ts';

const chat = { id: 7, type: 'private' as const, first_name: 'Ann' };
const voice = { file_id: 'f', file_unique_id: 'u', duration: 4 };
const message = (id: number, content: object = { voice }) => ({ message_id: id, date: 1, chat, ...content }) as Message;
const envelope = { conversation_key: 'messenger:inst_1:user:7', sender: { raw_id: '7' } } as Envelope;
const { signal } = new AbortController();
const origin = (id: number) => ({ conversationKey: 'k', sender: '7', message: `7:${id}`, signal });

function open(denied = false) {
  const taken: string[] = [];
  const core = { resolve: async () => ({ denied }) as Identity };
  const words = createFileWords({
    core,
    keys: { ofMessage: ({ chat, message_id }) => `${chat.id}:${message_id}` },
    takeFile: async (_file, { message: name }) => (taken.push(name), { words: `heard ${name}` }),
  });
  return { words, taken };
}
const file = { kind: 'spoken' as const, what: 'Voice message', id: 'f', name: 'v.ogg' };

test('keeps the words of files for the newest messages', async () => {
  const { words, taken } = open();
  for (let id = 1; id <= 101; id++) await words.take(file, origin(id));
  expect(await words.ofEdited(message(101), envelope, signal)).toBe('heard 7:101');
  expect(taken).toHaveLength(101);
  expect(await words.ofEdited(message(1), envelope, signal)).toBe('heard 7:1');
  expect(taken.at(-1)).toBe('7:1');
});

test('transcribes an older message again, but only for people with access', async () => {
  const known = open();
  expect(await known.words.ofEdited(message(5), envelope, signal)).toBe('heard 7:5');
  const stranger = open(true);
  expect(await stranger.words.ofEdited(message(5), envelope, signal)).toBe('');
  expect(stranger.taken).toEqual([]);
});

test('fetches nothing for other files or messages without one', async () => {
  const { words, taken } = open();
  const photo = [{ file_id: 'p', file_unique_id: 'p', width: 1, height: 1 }];
  for (const content of [{ photo }, { text: 'hi' }]) expect(await words.ofEdited(message(5, content), envelope, signal)).toBe('');
  expect(taken).toEqual([]);
});
