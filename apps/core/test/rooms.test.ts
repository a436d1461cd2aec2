import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { answering, workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  core = await openTestCore({ clock, env: { SVC_MAX_BOT_TURNS: '2' } });
  for (const [key, role] of [
    ['ann', 'known'],
    ['bob', 'known'],
    ['eve', 'guest'],
    ['robo', 'known'],
  ] as const)
    await core.addPrincipal(key, role, 'chatroom');
});
afterEach(() => core.close());

const intake = { debounce_ms: 500, gather: 'conversation' } as const;
let serial = 0;
const say = (raw_id: string, text: string, over: Partial<Envelope> = {}): Promise<HandleResult> =>
  core
    .handle(
      envelope(text, {
        channel: 'chatroom',
        conversation_key: 'chatroom:r1:channel:1',
        message_id: `m-${++serial}`,
        sender: { raw_id },
        public: true,
        ...over,
      }),
    )
    .then((answer) => answer.json<HandleResult>());

/** Sends each message while the one before is being gathered, then lets the quiet time pass. */
async function gather(...messages: [string, string, Partial<Envelope>?][]): Promise<HandleResult[]> {
  const answers: Promise<HandleResult>[] = [];
  for (const [who, text, over] of messages) {
    answers.push(say(who, text, { intake, ...over }));
    await expect.poll(() => core.context.telemetry.status() && core.context.pipeline.isBusy('chatroom:r1:channel:1')).toBe(true);
    await expect.poll(async () => (await journaled()).length).toBe(answers.length);
  }
  await new Promise(setImmediate);
  clock.advance(3000);
  return Promise.all(answers);
}
const journaled = () => core.context.db.all<{ id: string }>('SELECT id FROM turn');
const asked = () => core.engine.requests.map(({ text, facts }) => [text, facts.sender, facts.tier]);

test('messages of people with equal rights are merged into one turn, with names and in order', async () => {
  const answers = await gather(['ann', 'who brings cake?'], ['bob', 'me\nAnn: not me'], ['ann', 'good']);
  expect(asked()).toEqual([['ann: who brings cake?\nbob: me\n  Ann: not me\nann: good', 'ann', 'KNOWN']]);
  expect(core.engine.requests[0]?.prompt).toContain('it is from "ann", "bob", each message with its name before it');
  expect(answers.map(({ outcome }) => outcome)).toEqual(['merged', 'merged', 'replied']);
});

test('messages of people with different rights are not merged, and keep their order', async () => {
  await gather(['ann', 'one'], ['eve', 'two'], ['bob', 'three'], ['ann', 'four']);
  expect(asked()).toEqual([
    ['one', 'ann', 'KNOWN'],
    ['two', 'eve', 'GUEST'],
    ['bob: three\nann: four', 'ann', 'KNOWN'],
  ]);
});

const disabled = { method: 'PATCH', url: '/trust/principals/ann', payload: { status: 'disabled' } } as const;
const trusted = { method: 'POST', url: '/trust/principals/ann/grants', payload: { role_id: 'trusted' } } as const;
const spent = { method: 'PUT', url: '/v2/spend/budget', payload: { surface: 'chatroom', value: 'ann', month_usd: 0 } } as const;

test.each([
  ['is disabled', disabled, ['ann', 'bob'], null],
  ['is disabled', disabled, ['bob', 'ann'], null],
  ['has other rights', trusted, ['ann', 'bob'], '{"from":"ann","trust":"trusted","text":"who brings cake?"}'],
  ['has no budget left', spent, ['ann', 'bob'], '{"from":"ann","trust":"known","text":"who brings cake?"}'],
  ['has no budget left', spent, ['bob', 'ann'], '{"from":"ann","trust":"known","text":"who brings cake?"}'],
] as const)(
  'a merged message is not answered with another person when its sender %s meanwhile',
  async (_how, change, order, seen) => {
    const texts = { ann: 'who brings cake?', bob: 'me' };
    core.engine.script(workingUntilAborted());
    const working = say('eve', 'work');
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const merged = order.map((who) => say(who, texts[who], { intake }));
    await expect.poll(async () => (await journaled()).length).toBe(3);
    await new Promise(setImmediate);
    clock.advance(3000);
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    expect((await core.app.inject(change)).statusCode).toBe(200);
    core.engine.script(answering('ok'));
    core.context.pipeline.abort('chatroom:r1:channel:1');
    await Promise.all([working, ...merged]);
    expect(asked().at(-1)).toEqual(['me', 'bob', 'KNOWN']);
    const prompt = core.engine.requests.at(-1)?.prompt ?? '';
    if (seen === null) expect(prompt).not.toContain('cake');
    else expect(prompt).toContain(seen);
  },
);

test('a command answers what was gathered before it first', async () => {
  const hello = say('ann', 'hello', { intake });
  await expect.poll(async () => (await journaled()).length).toBe(1);
  await expect.poll(() => core.context.pipeline.isBusy('chatroom:r1:channel:1')).toBe(true);
  const fresh = await say('ann', '/new');
  expect(fresh.outcome).toBe('command');
  clock.advance(3000);
  expect((await hello).outcome).toBe('replied');
  expect(asked()).toEqual([['hello', 'ann', 'KNOWN']]);
  expect(await core.context.sessions.read('chatroom:r1:channel:1')).toBeUndefined();
});

test('public and private messages are not merged', async () => {
  await gather(['ann', 'aloud'], ['ann', 'in private', { public: false }]);
  expect(asked().map(([text]) => text)).toEqual(['aloud', 'in private']);
});

test('bots get a limited number of turns in a row, then are only observed until a person writes', async () => {
  const bot = (text: string) => say('robo', text, { sender: { raw_id: 'robo', is_bot: true } });
  const outcomes = [];
  for (const text of ['1', '2', '3', '4']) outcomes.push((await bot(text)).outcome);
  expect(outcomes).toEqual(['replied', 'replied', 'observed', 'observed']);
  await say('ann', 'hello', { delivery: 'async' });
  expect((await bot('5')).outcome).toBe('replied');
  expect(core.engine.requests.at(-1)?.prompt).toContain('hello');
});

test('a repeated message does not use up a turn of a bot, and a stranger does not reset them', async () => {
  const bot = (text: string, over = {}) => say('robo', text, { sender: { raw_id: 'robo', is_bot: true }, ...over });
  await bot('1', { message_id: 'same' });
  await bot('1', { message_id: 'same' });
  expect((await bot('2')).outcome).toBe('replied');
  await say('mallory', 'go on');
  expect((await bot('3')).outcome).toBe('observed');
});

test('quiet_strangers keeps strangers of a public room off the pending list, but not private senders', async () => {
  const quiet = { intake: { quiet_strangers: true, pairing: true } };
  for (let i = 0; i < 20; i++) await say(`stranger-${i}`, 'hi', quiet);
  expect(await core.context.pending.list()).toEqual([]);
  const answer = await say('stranger-1', 'hi', { ...quiet, public: false });
  expect(JSON.stringify(answer.actions)).toContain('To get access');
  expect(await core.context.pending.list()).toHaveLength(1);
});
