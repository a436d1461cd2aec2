import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { History, HistoryMessage } from '@svc/contract/session.ts';
import type { Value } from '@svc/store/database.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { createTurnHistory } from '../src/turn/turn-history.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
let core: TestCore;
/** "work" calls a tool and hangs; "look" calls two and answers; "break" calls one and fails. */
const script: EngineScript = async function* ({ text }, signal) {
  yield { type: 'session', engineSessionId: 's-1', resumed: false, model: null };
  if (text === 'hi') return yield* says('hello');
  yield { type: 'tool', id: 'c1', name: 'Read', input: { file: 'a' } };
  if (text.startsWith('work')) {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return yield { type: 'aborted' };
  }
  yield { type: 'tool_result', id: 'c1', ok: text === 'look', output: 'x' };
  if (text === 'break') {
    return yield { type: 'failed', failure: { code: 'engine_failed', message: 'It broke.', retryable: false } };
  }
  yield { type: 'tool', id: 'c1', name: 'Edit', input: {} };
  yield { type: 'tool_result', id: 'c1', ok: false, output: 'y' };
  yield* says('done');
};

beforeEach(async () => {
  core = await openTestCore({ script });
});
afterEach(() => core.close());

const caller = { sink: null, isGone: () => false };
const url = (of = key) => `/v2/session/${encodeURIComponent(of)}/history`;
const read = async (of = key): Promise<HistoryMessage[]> => (await core.app.inject(url(of))).json<History>().messages;
const states = async (of = key) => (await read(of)).map(({ role, text, state }) => `${role} ${text}: ${state}`);
const message = (text: string, over: Partial<Envelope> = {}) => envelope(text, { message_id: text, ...over });
/** Sends a message whose caller has disconnected. */
const leave = (asked: Envelope): void =>
  void core.context.pipeline.handle(asked, { ...caller, isGone: () => true }, 'r1').catch(() => undefined);

function upload(name: string): string {
  const file = path.join(core.folder, 'uploads', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, 'x');
  return file;
}

test('a message appears from its acceptance on, with its id, files and tool calls', async () => {
  const attachments = [{ path: upload('a.png'), name: 'a.png', mime: 'image/png' }];
  leave(message('work', { content: { text: 'work', attachments } }));
  leave(message('and then'));
  await expect.poll(async () => (await read())[0]?.tools).toEqual([{ id: 'c1', name: 'Read', ok: null }]);
  const shown = { role: 'user', sender: 'owner', outcome: null };
  expect(await read()).toMatchObject([
    { ...shown, message_id: 'work', text: 'work', state: 'running', attachments },
    { ...shown, message_id: 'and then', text: 'and then', state: 'queued', attachments: [], tools: [] },
  ]);
  core.context.pipeline.abort(key);
  await expect.poll(() => states()).toContainEqual(expect.stringMatching(/^assistant done: /));
  expect((await read())[0]).toMatchObject({
    state: 'done',
    outcome: 'aborted',
    attachments,
    tools: [{ id: 'c1', name: 'Read', ok: null }],
  });
});

test('an ended turn keeps its files and its tools, each with its result', async () => {
  const attachments = [{ path: upload('b.png') }];
  await core.handle(message('look', { content: { text: 'look', attachments } }));
  const tools = [
    { id: 'c1', name: 'Read', ok: true },
    { id: 'c1', name: 'Edit', ok: false },
  ];
  expect(await read()).toMatchObject([
    { role: 'user', outcome: 'replied', attachments, tools },
    { role: 'assistant', text: 'done', outcome: 'replied', message_id: 'look', attachments: [], tools: [] },
  ]);
});

test('a failed turn shows its error, and its retry begins without the earlier tool calls', async () => {
  await core.handle(message('break'));
  expect(await read()).toMatchObject([
    { text: 'break', state: 'failed', outcome: null, tools: [{ name: 'Read', ok: false }] },
    { role: 'error', text: 'It broke.', state: 'failed' },
  ]);
  core.engine.script(async function* () {
    yield* says('better');
  });
  await core.handle(message('break'));
  expect(await read()).toMatchObject([{ text: 'break', outcome: 'replied', tools: [] }, { text: 'better' }]);
});

test('the first hundred tool calls of a turn are kept', async () => {
  core.engine.script(async function* () {
    for (let n = 0; n < 5000; n++) {
      yield { type: 'tool', id: `c${n}`, name: 'Read', input: {} };
      yield { type: 'tool_result', id: `c${n}`, ok: true, output: '' };
    }
    yield* says('done');
  });
  await core.handle(message('hi'));
  expect((await read())[0]?.tools).toHaveLength(100);
});

test('gathered messages are listed one by one while they wait, and merged when they run', async () => {
  const gathered = { intake: { debounce_ms: 200 } };
  leave(message('one', gathered));
  leave(message('two', { ...gathered, content: { text: 'two', attachments: [{ path: upload('c.png') }] } }));
  await expect.poll(() => states()).toEqual(['user one: queued', 'user two: queued']);
  await expect.poll(async () => (await read())[0]?.text).toBe('one\ntwo');
  expect((await read())[0]?.attachments).toEqual([{ path: path.join(core.folder, 'uploads', 'c.png') }]);
});

describe('history after a crash', () => {
  test('is complete at once, with the current states', async () => {
    await core.handle(message('look'));
    leave(message('work'));
    leave(message('and then'));
    await expect.poll(() => states()).toContain('user and then: queued');
    core = await openTestCore({ dataDir: core.crash(), script });
    expect((await states()).map((line) => line.replace('delivered', 'replied'))).toEqual([
      'user look: replied',
      'assistant done: replied',
      'user work: running',
      'user and then: queued',
    ]);
  });

  test('shows a turn as queued that ran before and now has to wait', async () => {
    leave(message('work'));
    leave(message('work too', { conversation_key: 'compat:c1:other' }));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(2);
    await expect.poll(() => states('compat:c1:other')).toEqual(['user work too: running']);
    core = await openTestCore({ dataDir: core.crash(), script, env: { SVC_MAX_CONCURRENT_TURNS: '1' } });
    await expect.poll(() => core.context.pipeline.counts()).toEqual({ running: 1, waiting: 1 });
    expect([...(await states()), ...(await states('compat:c1:other'))]).toEqual(['user work: running', 'user work too: queued']);
    core.context.pipeline.abort(key);
    core.context.pipeline.abort('compat:c1:other');
  });
});

describe('history of a reply on its way', () => {
  const room = { conversation_key: 'messenger:m1:room', channel: 'messenger', channel_context: { chatId: 'room' } };

  test('shows it before the channel has it, and not after its conversation is forgotten', async () => {
    await core.addPrincipal('anna', 'owner', 'messenger');
    const asked = message('hi', { ...room, sender: { raw_id: 'anna' } });
    const { turn_id } = await core.context.pipeline.handle(asked, caller, 'r1');
    expect(await states(room.conversation_key)).toEqual(['user hi: replied', 'assistant hello: replied']);
    await core.app.inject({ method: 'DELETE', url: url(room.conversation_key).replace('/history', '') });
    expect((await core.app.inject(url(room.conversation_key))).statusCode).toBe(404);
    await core.context.pipeline.pendingAcks.delivered(turn_id);
    expect((await core.app.inject(url(room.conversation_key))).statusCode).toBe(404);
  });
});

test('the turns of a conversation are read without sorting all that it ever had, and without those of others', async () => {
  const { db } = core.context;
  const steps: string[] = [];
  const all = async <Row>(sql: string, ...values: Value[]): Promise<Row[]> => {
    for (const { detail } of await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)) steps.push(detail);
    return db.all<Row>(sql, ...values);
  };
  await core.handle(message('hi'));
  const turns = createTurnHistory({ all });
  expect((await turns.history(key, Number.MAX_SAFE_INTEGER, 1)).rows).toHaveLength(1);
  expect((await turns.ended(key, Number.MAX_SAFE_INTEGER, 1)).rows).toHaveLength(1);
  expect(await turns.firstMessages(key)).toHaveLength(1);
  expect(steps.filter((step) => !/^SEARCH turn USING INDEX \w+ \(conversation_key=\?/.test(step))).toEqual([]);
});
