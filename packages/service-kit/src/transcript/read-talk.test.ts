import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTalk, talkSize, type TalkMark } from './read-talk.ts';

const session = '6b0a9a0e-1111-4222-8333-000000000001';
let home: string;
let remove: () => void;
let file: string;
beforeEach(() => {
  ({ path: home, remove } = temporaryFolder());
  const folder = path.join(home, '.claude/projects/-srv-work');
  mkdirSync(folder, { recursive: true });
  file = path.join(folder, `${session}.jsonl`);
});
afterEach(() => remove());

const line = (n: number, fields: object) =>
  `${JSON.stringify({ sessionId: session, cwd: '/srv/work', timestamp: new Date(n * 1000).toISOString(), ...fields })}\n`;
const user = (n: number, text: string) => line(n, { type: 'user', uuid: `u${n}`, message: { role: 'user', content: text } });
const answer = (n: number, block: object, output = 10) =>
  line(n, {
    type: 'assistant',
    uuid: `a${n}`,
    message: {
      id: `m${n}`,
      model: 'claude-x',
      content: [block],
      usage: { input_tokens: 3, cache_read_input_tokens: 2, output_tokens: output },
    },
  });
const text = (words: string) => ({ type: 'text', text: words });
const mark = async (): Promise<TalkMark> => {
  const place = { engine: 'claude' as const, homes: { HOME: home }, session, cwd: '/srv/work', since: 5000 };
  return { ...place, from: await talkSize(place) };
};

test('returns only messages after the mark, with their tools and tokens', async () => {
  writeFileSync(file, user(1, 'old 你好') + answer(2, text('old answer')));
  const from = await mark();
  const call = { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/a' } };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x', is_error: true }] };
  appendFileSync(file, user(6, 'new') + answer(7, call) + line(8, { type: 'user', uuid: 'u8', message: result }));
  appendFileSync(file, answer(9, text('one')) + answer(10, text('two')) + user(11, 'and'));
  const talk = await readTalk(from);
  expect(talk?.turns).toEqual([
    {
      id: 'user:u6',
      text: 'new',
      at: 6000,
      replies: ['one', 'two'],
      tools: [{ id: 't1', name: 'Read', ok: false }],
      endedAt: 10_000,
    },
    { id: 'user:u11', text: 'and', at: 11_000, replies: [], tools: [], endedAt: 11_000 },
  ]);
  expect(talk?.used).toEqual([
    { model: 'claude-x', tokens: { input: 9, output: 30, cacheRead: 6, cacheWrite: 0, cacheWrite1h: 0 } },
  ]);
});

test('reads a rewritten transcript by its times, and a truncated one up to the cut', async () => {
  writeFileSync(file, user(1, 'old') + answer(2, text('a long old answer that is gone later'.repeat(20))));
  const from = await mark();
  writeFileSync(file, user(1, 'old') + user(6, 'new') + answer(7, text('yes')));
  expect((await readTalk(from))?.turns.map(({ text: said, replies }) => [said, replies])).toEqual([['new', ['yes']]]);
  truncateSync(file, Buffer.byteLength(user(1, 'old') + user(6, 'new')) + 20);
  expect((await readTalk(from))?.turns.map(({ text: said, replies }) => [said, replies])).toEqual([['new', []]]);
});

test('is null for a missing transcript', async () => {
  expect(await readTalk(await mark())).toBeNull();
});

test('counts a repeated answer once, and puts every message in one turn', async () => {
  const step = fc.oneof(fc.constant('ask' as const), fc.constant('say' as const), fc.constant('again' as const));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      writeFileSync(file, user(1, 'old'));
      const from = await mark();
      let [asked, said, n] = [0, 0, 10];
      let last = '';
      for (const what of steps) {
        n++;
        if (what === 'ask') appendFileSync(file, user(n, `ask ${asked++}`));
        if (what === 'say') appendFileSync(file, (last = answer(n, text(`say ${said++}`))));
        if (what === 'again') appendFileSync(file, last);
      }
      const talk = await readTalk(from);
      expect(talk?.turns.map(({ text: words }) => words)).toEqual(Array.from({ length: asked }, (_, i) => `ask ${i}`));
      expect(talk?.used[0]?.tokens.output ?? 0).toBe(10 * said);
      const replies = talk?.turns.flatMap((turn) => turn.replies) ?? [];
      expect(new Set(replies).size).toBe(replies.length);
    }),
    { numRuns: 40 },
  );
});
