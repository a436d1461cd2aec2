import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ask, OpenAsk } from '@svc/contract/ask.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { Caller } from '../src/turn/turn.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
  await setAsks('dangerous');
});
afterEach(() => core.close());

const key = 'compat:c1:key';
const question = {
  text: 'Go on?',
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
};

/** An engine that asks, and replies with the outcome. */
const asking: EngineScript = async function* (request) {
  const answer = await request.ask?.(question);
  yield* says(JSON.stringify(answer ?? 'nobody to ask'));
};

const post = async (url: string, payload: object) => {
  const answer = await core.app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
};
const setAsks = (asks: string, role = 'owner', tier = 'SACRED', tool_policy = 'full') =>
  post('/trust/roles', { name: role, tier, tool_policy, asks });

/** A turn of a person whose channel shows questions by default. */
function begin(text: string, over: Partial<Envelope> = {}, caller: Partial<Caller> = {}) {
  const frames: TurnProgress[] = [];
  const shown = Promise.withResolvers<Ask>();
  const sink = (frame: TurnProgress) => {
    frames.push(frame);
    if (frame.type === 'ask') shown.resolve(frame.ask);
  };
  const result = core.context.pipeline.handle(
    envelope(text, over),
    { sink, isGone: () => false, showsAsks: true, ...caller },
    'req_test',
  );
  result.catch(() => undefined);
  return { frames, ask: shown.promise, result };
}

const replyOf = async (result: Promise<HandleResult>) => (await result).actions.map(({ text }) => text).join();
const answer = (id: string, by: string, choice: object = { option: 'yes' }, over: object = {}) =>
  post(`/v2/asks/${id}/answer`, { as: { channel: 'compat', sender: { raw_id: by } }, conversation_key: key, ...choice, ...over });
const say = (text: string, raw_id = 'owner', over: Partial<Envelope> = {}) =>
  core
    .handle(envelope(text, { sender: { raw_id, raw_username: raw_id }, ...over }))
    .then((response) => response.json<HandleResult>());

describe('a question', () => {
  beforeEach(() => core.engine.script(asking));

  test('is shown, listed, reported and answered once, and the turn continues with the answer', async () => {
    const turn = begin('hi');
    const ask = await turn.ask;
    expect(ask).toMatchObject({ text: 'Go on?', options: question.options, for: expect.stringMatching(/^principal_/) });
    const { asks } = (await core.app.inject({ url: `/v2/asks?conversation_key=${key}` })).json<{ asks: OpenAsk[] }>();
    expect(asks).toMatchObject([{ id: ask.id, conversation_key: key, expires_at: ask.expires_at }]);
    expect((await core.app.inject({ url: '/v2/asks?principal=nobody' })).json()).toEqual({ asks: [] });
    const answers = await Promise.all([answer(ask.id, 'owner'), answer(ask.id, 'owner', { option: 'no' })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    expect(answers[0]?.body).toMatchObject({ ask_id: ask.id, option: 'yes', label: 'Yes' });
    expect(await replyOf(turn.result)).toBe('{"option":"yes","outcome":"answered"}');
    expect(turn.frames.find(({ type }) => type === 'asked')).toMatchObject({ id: ask.id, answer: { option: 'yes' } });
    expect((await answer(ask.id, 'owner')).status).toBe(409);
    const told = core.telemetry.events.filter(({ kind }) => kind.startsWith('ask'));
    expect(told.map(({ kind, principal, session }) => [kind, principal, session])).toEqual([
      ['ask', 'owner', key],
      ['asked', 'owner', key],
    ]);
    expect(await core.context.askStore.takeLeft()).toEqual([]);
  });

  test('can be answered by its person and by owners, in its own conversation only', async () => {
    await setAsks('dangerous', 'known', 'KNOWN', 'read');
    await core.addPrincipal('anna', 'known');
    await core.addPrincipal('bob', 'trusted');
    await core.addPrincipal('carl', 'owner');
    const turn = begin('hi', { sender: { raw_id: 'anna', raw_username: 'anna' } });
    const { id } = await turn.ask;
    const no = { option: 'no' };
    expect(await answer(id, 'bob', no)).toMatchObject({ status: 403 });
    expect(await answer(id, 'stranger', no)).toMatchObject({ status: 403 });
    expect(await answer(id, 'carl', no, { as: { channel: 'compat', sender: { raw_id: 'carl' }, public: true } })).toMatchObject({
      status: 403,
    });
    expect(await answer(id, 'anna', no, { conversation_key: 'compat:c1:other' })).toMatchObject({ status: 404 });
    expect(await answer('ask_none', 'anna', no)).toMatchObject({ status: 404 });
    expect(await answer(id, 'anna', { option: 'maybe' })).toMatchObject({ status: 400 });
    expect(await answer(id, 'anna', { text: 'perhaps' })).toMatchObject({ status: 400 });
    expect(await answer(id, 'anna', { text: '\ud800' })).toMatchObject({ status: 400 });
    expect(await answer(id, 'anna', { option: 'yes', text: 'no' })).toMatchObject({ status: 400 });
    expect(await answer(id, 'carl', { text: '2' })).toMatchObject({ status: 200, body: { option: 'no' } });
    expect(await replyOf(turn.result)).toBe('{"option":"no","outcome":"answered"}');
  });

  test.each([
    ['a role that asks never', async () => setAsks('never'), {}, '"nobody to ask"'],
    ['a caller whose channel shows none', async () => undefined, { showsAsks: false }, 'unseen'],
    ['a caller who wants the answer only', async () => undefined, { showsAsks: undefined, sink: null }, 'unseen'],
  ])('is not asked with %s', async (_what, prepare, caller, reply) => {
    await prepare();
    expect(await replyOf(begin('hi', {}, caller).result)).toContain(reply);
  });

  test('ends with its turn: by /stop, by an operator, or by lost rights', async () => {
    await core.addPrincipal('anna', 'owner');
    for (const end of [
      () => say('/stop'),
      () => post('/v2/abort', { conversation_key: key }),
      () => post('/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'full', asks: 'always' }),
    ]) {
      const turn = begin('hi');
      const { id } = await turn.ask;
      await end();
      expect((await turn.result).outcome).toBe('aborted');
      expect(turn.frames).toContainEqual({ type: 'asked', id, answer: { option: null, outcome: 'ended' } });
      expect((await answer(id, 'owner')).status).toBe(409);
      expect(core.context.asks.list()).toEqual([]);
    }
  });

  test('ends with the run when its engine does not wait for an answer', async () => {
    core.engine.script(async function* (request) {
      void request.ask?.(question);
      await expect.poll(() => core.context.asks.list().length).toBe(1);
      yield* says('done');
    });
    expect(await replyOf(begin('hi').result)).toBe('done');
    expect(core.context.asks.list()).toEqual([]);
  });

  test('is shown again to a connector that reconnects', async () => {
    let isGone = false;
    const turn = begin('hi', { message_id: 'm1' }, { isGone: () => isGone });
    const { id } = await turn.ask;
    isGone = true;
    const again = begin('hi', { message_id: 'm1' }, { isAgain: true });
    expect((await again.ask).id).toBe(id);
    await answer(id, 'owner');
    expect(await replyOf(again.result)).toContain('answered');
    expect(again.frames.map(({ type }) => type)).toEqual(['ask', 'asked', 'delta', 'segment']);
  });

  test('restricts the tool policy of an engine that cannot ask', async () => {
    const policies: unknown[] = [];
    const mute = { ...core.engine, asks: undefined };
    const active = await core.context.engines.active();
    core.context.engines.active = () => Promise.resolve({ ...active, engine: mute });
    core.engine.script(async function* (request) {
      policies.push([request.toolPolicy, request.ask, request.asks]);
      yield* says('x');
    });
    for (const [asks, tool_policy] of [
      ['dangerous', 'full'],
      ['always', 'full'],
      ['never', 'full'],
    ] as const) {
      await setAsks(asks, 'owner', 'SACRED', tool_policy);
      await begin('hi').result;
    }
    expect(policies).toEqual([
      ['read', undefined, undefined],
      ['none', undefined, undefined],
      ['full', undefined, undefined],
    ]);
  });
});

describe('an answer in free text', () => {
  beforeEach(() => core.engine.script(asking));

  test('is handled at once, while other messages wait behind the asking turn', async () => {
    const turn = begin('hi');
    await turn.ask;
    const other = begin('and then?', {}, {});
    const { outcome, actions } = await say(' 1. ');
    expect([outcome, actions]).toEqual(['command', [{ type: 'reply', text: 'Answered: Yes' }]]);
    expect(await replyOf(turn.result)).toContain('"yes"');
    expect((await other.ask).text).toBe('Go on?');
    await say('no');
    expect(await replyOf(other.result)).toContain('"no"');
  });

  test('is taken from the new text of a reply, not from the quoted message', async () => {
    const turn = begin('hi');
    await turn.ask;
    const quoting = (said: string) => ({ content: { text: `[In answer to your message: "Really? yes"]\n${said}`, said } });
    expect((await say('', 'owner', quoting('1'))).outcome).toBe('command');
    expect(await replyOf(turn.result)).toContain('"outcome":"answered"');
  });

  test('is accepted from the person asked only; the same word from others is a message', async () => {
    await setAsks('never', 'trusted', 'TRUSTED', 'full');
    await core.addPrincipal('bob', 'trusted');
    await core.addPrincipal('carl', 'owner');
    const turn = begin('hi');
    await turn.ask;
    const words = ['bob', 'carl'].map((name) => say('yes', name));
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(2);
    expect(core.context.asks.list()).toHaveLength(1);
    expect(await say('yes', 'stranger')).toMatchObject({ outcome: 'denied' });
    await say('yes');
    expect(await replyOf(turn.result)).toContain('"yes"');
    expect(await replyOf(words[0] as Promise<HandleResult>)).toBe('"nobody to ask"');
    await words[1];
  });

  test('counts once when sent twice, and is accepted from every identifier of the person', async () => {
    const { principal_id } = await core.context.trust.resolve(envelope('x'));
    await post(`/trust/principals/${principal_id}/identifiers`, { surface: 'compat', value: 'my-phone' });
    const turn = begin('hi');
    await turn.ask;
    const once = { message_id: 'm7' };
    const [first, second] = await Promise.all([say('yes', 'my-phone', once), say('yes', 'my-phone', once)]);
    expect([first?.outcome, second?.outcome]).toEqual(['command', 'command']);
    expect(await replyOf(turn.result)).toContain('"yes"');
    expect((await say('yes', 'my-phone', once)).outcome).toBe('command');
  });

  test('is an ordinary message after the question ended, in another conversation, or when only observed', async () => {
    core.engine.script(asking);
    const turn = begin('hi');
    await turn.ask;
    expect((await say('yes', 'owner', { delivery: 'async' })).outcome).toBe('observed');
    expect((await say('yes', 'owner', { conversation_key: 'compat:c1:other' })).outcome).toBe('replied');
    expect(core.context.asks.list()).toHaveLength(1);
    await say('no');
    await turn.result;
    expect((await say('no')).outcome).toBe('replied');
  });

  test('is accepted with a full queue that rejects other messages', async () => {
    await core.close();
    core = await openTestCore({ env: { SVC_MAX_QUEUED_TURNS: '1' } });
    await setAsks('dangerous');
    await core.addPrincipal('bob', 'trusted');
    core.engine.script(asking);
    const turn = begin('hi');
    await turn.ask;
    const waiting = begin('later', { sender: { raw_id: 'bob', raw_username: 'bob' } });
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    expect((await core.handle(envelope('yes', { sender: { raw_id: 'bob', raw_username: 'bob' } }))).statusCode).toBe(429);
    expect((await core.handle(envelope('what?'))).statusCode).toBe(429);
    expect((await say('yes')).outcome).toBe('command');
    await Promise.all([turn.result, waiting.result]);
  });
});

test('unanswered questions do not block other conversations', async () => {
  await core.close();
  core = await openTestCore({ env: { SVC_MAX_CONCURRENT_TURNS: '3' } });
  await setAsks('dangerous');
  core.engine.script(async function* (request) {
    yield* request.text === 'hi' ? asking(request, new AbortController().signal) : says('at once');
  });
  const asked = ['a', 'b', 'c'].map((name) => begin('hi', { conversation_key: `compat:c1:${name}` }));
  await Promise.all(asked.map(({ ask }) => ask));
  expect(await replyOf(begin('hello', { conversation_key: 'compat:c1:d' }).result)).toBe('at once');
  expect(core.context.pipeline.counts()).toEqual({ running: 3, waiting: 0 });
  for (const name of 'abc') await say('no', 'owner', { conversation_key: `compat:c1:${name}` });
  for (const { result } of asked) expect(await replyOf(result)).toContain('"no"');
});

test('a question open at a crash is denied, and its turn runs and asks again', async () => {
  core.engine.script(asking);
  const turn = begin('hi', { message_id: 'm1' });
  const { id } = await turn.ask;
  const dataDir = core.crash();
  core = await openTestCore({ dataDir, script: asking });
  expect(core.telemetry.events.find(({ kind }) => kind === 'asked')?.payload).toMatchObject({ id, outcome: 'ended' });
  expect((await answer(id, 'owner')).status).toBe(404);
  const again = begin('hi', { message_id: 'm1' }, { isAgain: true });
  const { id: next } = await again.ask;
  expect(next).not.toBe(id);
  await answer(next, 'owner', { text: 'no' });
  expect(await replyOf(again.result)).toContain('"no"');
});
