import type { Action } from '@svc/contract/turn.ts';
import { expect, test } from 'vitest';
import { contentOf, usualWords } from './reply-content.ts';
import type { Place, ReplyFile, ReplyPlatform } from './reply-platform.ts';

const place = { chat: 'room', signal: AbortSignal.timeout(60_000), nonce: 'n' };
const file = (name: string): Action => ({ type: 'file', path: `/${name}`, name, mime: 'text/plain' });

/** What a platform was asked to show, in order. */
async function shownOf(actions: Action[], options: Partial<ReplyPlatform>) {
  const shown: unknown[] = [];
  const platform = {
    file: async ({ name, answers }: Place & ReplyFile & { answers?: string }) => shown.push([name, answers]),
    react: async ({ emoji }: { emoji: string }) => shown.push(emoji),
    ...options,
  };
  const { text, extras } = contentOf({ actions, outcome: 'replied' }, { platform, words: usualWords, answers: 'm1' });
  for (const extra of extras) await extra(place);
  return { text, shown };
}

test('files follow the text, each as a separate message, and reactions come last', async () => {
  const actions: Action[] = [{ type: 'react', emoji: '👍' }, file('a'), { type: 'reply', text: 'Two.' }, file('b')];
  expect(await shownOf(actions, {})).toEqual({ text: 'Two.', shown: [['a', 'm1'], ['b', 'm1'], '👍'] });
});

test('files of an album are one message', async () => {
  const albums: unknown[] = [];
  const { shown } = await shownOf(['a', 'b', 'c'].map(file), {
    albums: {
      group: ([first, ...others]) => [[first!], others],
      post: async ({ files, answers }) => albums.push([files.map(({ name }) => name), answers]),
    },
  });
  expect([shown, albums]).toEqual([[['a', 'm1']], [[['b', 'c'], 'm1']]]);
});

test.each([
  [true, 2],
  [false, 1],
])('an album counts one message per file where the platform counts so: %s', (countsEach, counted) => {
  const post = async () => undefined;
  const platform = {
    file: post,
    albums: { countsEach, group: ([first, ...others]: readonly ReplyFile[]) => [[first!], others], post },
  };
  const { extras } = contentOf({ actions: ['a', 'b', 'c'].map(file), outcome: 'replied' }, { platform, words: usualWords });
  expect(extras.map(({ writes }) => writes)).toEqual([undefined, counted]);
});

test('a part that the platform turns into a file is removed from the text and comes first', async () => {
  const attach = (text: string) => ({
    text: text.replace('LONG', 'long.txt'),
    files: [{ path: '', name: 'long.txt', data: Buffer.from('LONG') }],
  });
  const { text, shown } = await shownOf([{ type: 'reply', text: 'See LONG.' }, file('a')], { attach });
  expect([text, shown]).toEqual([
    'See long.txt.',
    [
      ['long.txt', 'm1'],
      ['a', 'm1'],
    ],
  ]);
});

test('the text becomes the caption of the first file where the platform has captions', async () => {
  const shown: unknown[] = [];
  const platform: Partial<ReplyPlatform> = {
    textWithFiles: true,
    file: async ({ name, caption }) => shown.push([name, caption]),
  };
  const of = async (...actions: Action[]) => (await shownOf(actions, platform)).text;
  expect(await of({ type: 'reply', text: 'See.' }, file('a'), file('b'))).toBe('');
  expect(await of({ type: 'reply', text: 'Alone.' })).toBe('Alone.');
  expect(shown).toEqual([
    ['a', 'See.'],
    ['b', undefined],
  ]);
});

test('a platform without files gets their names as text', async () => {
  const { text } = await shownOf([{ type: 'reply', text: 'See.' }, file('a')], { file: undefined });
  expect(text).toBe('See.\n\n📎 a');
});
