import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';

let core: CliCore;
beforeAll(async () => void (core = await startCliCore()));
afterAll(() => core.close());

const chat = (args: readonly string[], input = '') => core.svc(['chat', ...args], { input });
/** The files that an engine was given, by the offline engine's command `context`. */
const filesOf = (out: string) =>
  (JSON.parse(out) as { attachments: Attachment[] }).attachments.map(({ name, mime, bytes }) => ({ name, mime, bytes }));

test('piped input is appended to the message, and is the message when there is none', async () => {
  expect(await chat(['echo', 'sum up'], 'one\ntwo\n')).toMatchObject({ code: 0, out: 'sum up\n\none\ntwo\n' });
  expect(await chat([], 'echo **as it is**\n')).toMatchObject({ code: 0, out: '**as it is**\n', err: '' });
});

test('long input, binary input and named files are sent as attachments', async () => {
  const note = path.join(core.folder, 'note.md');
  writeFileSync(note, 'words');
  expect(filesOf((await chat(['context'], 'x'.repeat(100_001))).out)).toEqual([
    { name: 'stdin.txt', mime: 'text/plain', bytes: 100_001 },
  ]);
  expect(filesOf((await chat(['--file', note, '-f', note, 'context'], '\u0000binary')).out)).toEqual([
    { name: 'note.md', mime: 'text/markdown', bytes: 5 },
    { name: 'note.md', mime: 'text/markdown', bytes: 5 },
    { name: 'stdin.bin', mime: 'application/octet-stream', bytes: 7 },
  ]);
});

test('selects a conversation by its name or its key, and starts it over', async () => {
  const key = `shell:${userInfo().username}:work`;
  const keyOf = async (...args: string[]) => {
    const frame = JSON.parse((await chat([...args, '--json', 'echo hi'])).out) as TurnFrame;
    return frame.type === 'result' ? frame.result.conversation_key : frame;
  };
  expect([await keyOf('--session', 'work'), await keyOf('--session', key), await keyOf('-n', '-s', 'work')]).toEqual([
    key,
    key,
    key,
  ]);
  expect((await chat(['-s', 'work', '/usage'])).out).toMatch(/^1 turns?, /);
});

test('without a terminal a question is printed on one line with the command that answers it', async () => {
  expect(await core.svc(['role', 'set', 'owner', '--asks', 'dangerous'])).toMatchObject({ code: 0 });
  const asked = chat(['-s', 'asks', 'ask Which\none? | This | That']);
  const open = async () => (await (await fetch(`${core.url}/v2/asks`)).json()) as { asks: unknown[] };
  await expect.poll(async () => (await open()).asks, { timeout: 30_000 }).toHaveLength(1);
  expect(await chat(['--session=asks', '2'])).toMatchObject({ code: 0, out: 'Answered: That\n' });
  const line = '? The assistant asks: Which ⏎ one? (1. This, 2. That) Answer by number: ./svc chat --session=asks 1\n';
  expect(await asked).toMatchObject({ code: 0, out: expect.stringContaining('That'), err: line });
  const json = await chat(['-s', 'asks', '--json', 'ask Which? | This | That']);
  expect(json).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(json.out)).toMatchObject({ type: 'result' });
});

test.each([
  [['fail crashed'], '', /✗ .*engine_crashed\. Run: \.\/svc logs core/],
  [['--file', '/nowhere', 'hi'], '', /there is no file \/nowhere/],
  [[], ' \n', /the message is empty.\nRun: \.\/svc chat "hello"/],
  [['-s', 'messenger:m1:user:1', 'hi'], '', /not a conversation of this shell[^]*Run: \.\/svc session --help/],
])('chat %j fails, and says what to do', async (args, input, why) => {
  const { code, out, err } = await chat(args, input);
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(why)]);
});
