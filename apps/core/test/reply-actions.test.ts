import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { beforeEach, expect, test } from 'vitest';
import { callTool, toolbeltOf, type Called } from './call-tool.ts';
import { envelope, openTestCore } from './open-test-core.ts';
import { from, openToolbeltBench, planted, tokenOf } from './open-toolbelt-bench.ts';

const bench = openToolbeltBench();
const capabilities = { actions: ['file', 'react'] as ('file' | 'react')[] };
let serial = 0;
const asking = (who: string, over: Partial<Envelope> = {}) =>
  from(who, { capabilities, message_id: `a-${++serial}`, conversation_key: `messenger:m1:user:${who}`, ...over });

/** Runs a turn whose engine calls tools and then replies. */
async function turn(
  message: Envelope,
  said: string,
  use: (call: (name: string, input: object) => Promise<Called>) => Promise<unknown>,
) {
  bench.core.engine.script(async function* (request: EngineRequest) {
    await use((name, input) => callTool(toolbeltOf(request), name, input));
    yield* says(said);
  });
  return (await bench.core.handle(message)).json<HandleResult>();
}
const workspace = () => path.join(bench.core.folder, 'workspace');
const put = (name: string, content: string) => {
  const file = path.join(workspace(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
/** The error text of a tool call. */
const refusal = async (message: Envelope, name: string, input: object): Promise<string> => {
  let text = '';
  const handled = await turn(message, 'ok', async (call) => {
    const answer = await call(name, input);
    text = answer.ok ? 'it was done' : (answer.text ?? '');
  });
  expect(handled.actions).toEqual([{ type: 'reply', text: 'ok' }]);
  return text;
};

beforeEach(() => mkdirSync(workspace(), { recursive: true }));

test('a file and a reaction are added to the reply, with a copy of the file as it was then', async () => {
  const file = put('out/plan.txt', 'milk, bread');
  const handled = await turn(asking('trusted'), 'here you are', async (call) => {
    expect(await call('svc_reply_file', { path: 'out/plan.txt' })).toMatchObject({ ok: true, result: { name: 'plan.txt' } });
    expect(await call('svc_react', { emoji: '👍🏽' })).toMatchObject({ ok: true });
    writeFileSync(file, 'something else');
  });
  expect(handled.actions).toMatchObject([
    { type: 'reply', text: 'here you are' },
    { type: 'file', name: 'plan.txt', mime: 'text/plain' },
    { type: 'react', emoji: '👍🏽' },
  ]);
  const copy = handled.actions[1] as { path: string };
  expect(copy.path.startsWith(bench.core.context.paths.uploads)).toBe(true);
  expect(readFileSync(copy.path, 'utf8')).toBe('milk, bread');
});

test('a repeated message gets the same actions, and the history shows the file', async () => {
  put('a.txt', 'a');
  const message = asking('trusted');
  const first = await turn(message, 'yes', (call) => call('svc_reply_file', { path: 'a.txt', name: 'the list.txt' }));
  expect((await bench.core.handle(message)).json()).toEqual(first);
  const history = await bench.core.app.inject(`/v2/session/${encodeURIComponent(message.conversation_key)}/history`);
  expect(history.json<{ messages: object[] }>().messages).toContainEqual(
    expect.objectContaining({ role: 'assistant', attachments: [expect.objectContaining({ name: 'the list.txt' })] }),
  );
});

test('a turn with a reaction and no text is not silent', async () => {
  const handled = await turn(asking('trusted'), '[[NO_REPLY]]', (call) => call('svc_react', { emoji: '❤️' }));
  expect(handled).toMatchObject({ outcome: 'replied', actions: [{ type: 'react', emoji: '❤️' }] });
});

test('a file of an unfetched reply is pushed after its text; a reaction is not', async () => {
  put('b.txt', 'b');
  const { context } = bench.core;
  bench.core.engine.script(async function* (request: EngineRequest) {
    await callTool(toolbeltOf(request), 'svc_reply_file', { path: 'b.txt' });
    await callTool(toolbeltOf(request), 'svc_react', { emoji: '👍' });
    yield* says('look');
  });
  const answer = await context.pipeline.handle(asking('trusted'), { sink: null, isGone: () => true }, 'req');
  context.pipeline.pendingAcks.callerGone(answer.turn_id);
  await context.pipeline.pendingAcks.undelivered(answer.turn_id, 'the test says so');
  await expect.poll(() => bench.sent.map(({ text, path: file }) => text ?? path.basename(file ?? ''))).toHaveLength(2);
  expect(bench.sent).toMatchObject([{ text: 'look' }, { path: expect.stringMatching(/b\.txt$/) }]);
  const list = (await bench.core.app.inject('/v2/deliveries')).json<{ deliveries: { text: string; state: string }[] }>();
  expect(list.deliveries.slice(0, 2)).toMatchObject([{ text: 'b.txt' }, { text: 'look' }]);
});

test('the tools explain when the channel cannot show files or reactions', async () => {
  put('c.txt', 'c');
  expect(await refusal(asking('trusted', { capabilities: {} }), 'svc_reply_file', { path: 'c.txt' })).toContain('shows no files');
  expect(
    await refusal(asking('trusted', { capabilities: { supports_attachments_out: true } }), 'svc_react', { emoji: '👍' }),
  ).toContain('shows no reactions');
  const silent = asking('trusted', { message_id: undefined });
  expect(await refusal(silent, 'svc_react', { emoji: '👍' })).toContain('no message to react to');
});

test('only files in the folder of the conversation can be sent, whatever the path or link', async () => {
  const foreign = path.join(bench.core.folder, 'core.db');
  put('d/here.txt', 'x');
  for (const link of ['link.db', 'folder', 'workspace-x']) rmSync(path.join(workspace(), link), { force: true });
  symlinkSync(foreign, path.join(workspace(), 'link.db'));
  symlinkSync(bench.core.folder, path.join(workspace(), 'folder'));
  for (const asked of [
    foreign,
    '../core.db',
    'link.db',
    'folder/core.db',
    'd/../../core.db',
    '/etc/passwd',
    '/dev/zero',
    '/proc/self/environ',
    'nothing.txt',
    '.',
    'a\u0000b',
    `${workspace()}-x/y`,
  ])
    expect([asked, await refusal(asking('trusted'), 'svc_reply_file', { path: asked })]).toEqual([
      asked,
      expect.stringMatching(/no such file in the folder/),
    ]);
  expect(await refusal(asking('trusted'), 'svc_reply_file', { path: 'd' })).toContain('Only a file can be sent');
});

test('a file that contains a secret or is too large is refused, and a secret in its name is masked', async () => {
  put('secret.txt', `the key is ${planted}`);
  expect(await refusal(asking('trusted'), 'svc_reply_file', { path: 'secret.txt' })).toContain('contains a secret');
  truncateSync(put('huge.bin', ''), 50 * 1024 * 1024 + 1);
  expect(await refusal(asking('trusted'), 'svc_reply_file', { path: 'huge.bin' })).toContain('at most');
  put('e.txt', 'x');
  const handled = await turn(asking('trusted'), 'ok', (call) =>
    call('svc_reply_file', { path: 'e.txt', name: `${planted}.txt` }),
  );
  expect(JSON.stringify(handled.actions)).not.toContain(planted);
});

test('read-only roles can react but not send files, and public turns have no working folder', async () => {
  put('f.txt', 'x');
  expect(await refusal(asking('reader'), 'svc_reply_file', { path: 'f.txt' })).toContain('not allowed');
  const reacted = await turn(asking('reader'), 'ok', (call) => call('svc_react', { emoji: '👍' }));
  expect(reacted.actions).toHaveLength(2);
  expect(await refusal(asking('trusted', { public: true }), 'svc_reply_file', { path: 'f.txt' })).toContain('no such file');
});

test('a guest can neither send a file nor react, not even with the token of a shared conversation', async () => {
  put('g.txt', 'x');
  const room = { conversation_key: 'messenger:m1:chat:all' };
  const token = await bench.inTurn(asking('trusted', room), (request) => Promise.resolve(tokenOf(request)));
  const answers = await bench.inTurn(asking('visitor', room), ({ toolServers }) => {
    expect(toolServers).toEqual([]);
    const calls = [bench.direct(token, 'svc_reply_file', { path: 'g.txt' }), bench.direct(token, 'svc_react', { emoji: '👍' })];
    return Promise.all(calls);
  });
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
});

test('a file added after the reply was made is refused, and its copy deleted', async () => {
  put('late.txt', 'late');
  const { turnActions } = bench.core.context.pipeline;
  const { add } = turnActions;
  turnActions.add = async (turn, action) => {
    turnActions.end(turn); // the reply is made at this moment
    return add(turn, action);
  };
  try {
    expect(await refusal(asking('trusted'), 'svc_reply_file', { path: 'late.txt' })).toContain('over');
  } finally {
    turnActions.add = add;
  }
  const { files } = (await bench.core.app.inject('/v2/uploads')).json<{ files: { name: string }[] }>();
  expect(files.map(({ name }) => name)).not.toContain('late.txt');
});

test('at most ten actions go with a reply, and a reaction must be one emoji', async () => {
  const handled = await turn(asking('trusted'), 'ok', async (call) => {
    for (let i = 0; i < 12; i++) await call('svc_react', { emoji: '👍' });
  });
  expect(handled.actions).toHaveLength(11);
  for (const emoji of ['ok', '👍👍', ' ', '1', '<b>', '👍 ', '\u202e'])
    expect(await refusal(asking('trusted'), 'svc_react', { emoji })).toMatch(/one emoji/);
});

test('actions of a turn interrupted by a crash are part of its reply after the second run', async () => {
  const made = Promise.withResolvers<void>();
  const first = await openTestCore({
    script: async function* (_request, signal) {
      const [row] = await first.context.db.all<{ id: string }>('SELECT id FROM turn');
      await first.context.pipeline.turnActions.add({ id: row?.id ?? '' }, { type: 'react', emoji: '👍' });
      made.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield { type: 'aborted' };
    },
  });
  const message = envelope('go', { message_id: 'm1' });
  void first.handle(message);
  await made.promise;
  const second = await openTestCore({
    dataDir: first.crash(),
    script: async function* () {
      yield* says('done');
    },
  });
  try {
    await expect.poll(() => second.context.pipeline.liveCount()).toBe(0);
    const handled = (await second.handle(message)).json<HandleResult>();
    expect(handled.actions).toEqual([
      { type: 'reply', text: 'done' },
      { type: 'react', emoji: '👍' },
    ]);
  } finally {
    await second.close();
  }
});
