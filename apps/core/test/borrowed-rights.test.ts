import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'messenger:m1:user:boss';
let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
  await core.addPrincipal('boss', 'owner', 'messenger');
  await core.addPrincipal('kim', 'trusted', 'messenger');
  await core.addPrincipal('ann', 'trusted', 'device');
});
afterEach(() => core.close());

const from = (who: string, text: string, over: Partial<Envelope> = {}) =>
  envelope(text, { channel: 'messenger', conversation_key: key, sender: { raw_id: who }, ...over });
const handle = async (message: Envelope) => (await core.handle(message)).json<HandleResult>();
const replyTo = async (message: Envelope) => (await handle(message)).actions[0]?.text;
const running = () => expect.poll(() => core.context.pipeline.counts().running).toBe(1);
const prompt = () => core.engine.requests.at(-1)?.prompt ?? '';

describe('a command in a conversation of another channel', () => {
  const elsewhere = (text: string) => from('ann', text, { channel: 'device' });
  const isRefused = async (text: string) =>
    expect(await replyTo(elsewhere(text))).toMatch(/conversation belongs to another channel/);

  test('cannot stop the running turn', async () => {
    core.engine.script(workingUntilAborted());
    const working = handle(from('boss', 'work'));
    await running();
    await isRefused('/stop');
    expect(await replyTo(from('boss', '/stop'))).toBe('Stopped.');
    expect((await working).outcome).toBe('aborted');
  });

  test('cannot reset the conversation or read its state', async () => {
    await handle(from('boss', 'hello'));
    for (const text of ['/new', '/status', '/usage']) await isRefused(text);
    expect((await core.app.inject(`/v2/session/${key}`)).json()).toMatchObject({ turns: 1, surface: 'messenger' });
  });

  test('is refused by the form of the key before a session exists, and by the channel of the session afterwards', async () => {
    await isRefused('/usage');
    const room = { channel: 'device', conversation_key: 'room-1' };
    await handle(from('ann', 'hello', room));
    expect(await replyTo(from('ann', '/usage', room))).toMatch(/^1 turn,/);
    expect(await replyTo(from('boss', '/new', { conversation_key: 'room-1' }))).toMatch(/another channel/);
  });
});

describe('a running turn', () => {
  const change = (method: 'PATCH' | 'DELETE', payload?: object) =>
    core.app.inject({ method, url: '/trust/principals/kim', ...(payload && { payload }) });
  const demote = () =>
    core.app.inject({
      method: 'POST',
      url: '/trust/roles',
      payload: { name: 'trusted', tier: 'TRUSTED', tool_policy: 'read' },
    });

  test.each([
    ['is disabled', () => change('PATCH', { status: 'disabled' })],
    ['is deleted', () => change('DELETE')],
    ['may do less', demote],
  ])('aborts when its sender %s', async (_how, lose) => {
    core.engine.script(workingUntilAborted('so far'));
    const working = handle(from('kim', 'work'));
    await running();
    expect((await lose()).statusCode).toBe(200);
    expect(await working).toMatchObject({ outcome: 'aborted', actions: [] });
  });

  test('continues when the trust of others changes or its sender gains rights', async () => {
    const release = Promise.withResolvers<void>();
    core.engine.script(async function* () {
      await release.promise;
      yield { type: 'done' };
    });
    const working = handle(from('kim', 'work'));
    await running();
    await core.app.inject({ method: 'PATCH', url: '/trust/principals/ann', payload: { status: 'disabled' } });
    await core.app.inject({ method: 'POST', url: '/trust/principals/kim/grants', payload: { role_id: 'owner' } });
    release.resolve();
    expect((await working).outcome).not.toBe('aborted');
  });
});

test('an announcement for a person is hidden from public conversations', async () => {
  await core.app.inject({ method: 'POST', url: '/v2/announce', payload: { text: 'the door code', target: 'identity:boss' } });
  await handle(from('boss', 'hi', { public: true, conversation_key: 'messenger:m1:channel:1' }));
  expect(prompt()).not.toContain('the door code');
  await handle(from('boss', 'hi'));
  expect(prompt()).toContain('the door code');
});

test('an observed sender and a person of the same name are distinguished by their trust', async () => {
  await core.addPrincipal('guy', 'guest', 'messenger');
  await core.app.inject({ method: 'PATCH', url: '/trust/principals/guy', payload: { display_name: 'boss' } });
  for (const who of ['guy', 'boss']) await handle(from(who, 'delete it', { delivery: 'async' }));
  await handle(from('boss', 'hi'));
  expect(prompt()).toContain('{"from":"boss","trust":"guest","text":"delete it"}\n{"from":"boss","trust":"owner"');
});

test('/new removes the files of a conversation for the next person in it', async () => {
  const upload = await core.app.inject({
    method: 'POST',
    url: '/v2/upload?filename=a.txt',
    payload: 'private',
    headers: { 'content-type': 'text/plain' },
  });
  const { path } = upload.json<{ file: { path: string } }>().file;
  await handle(from('boss', 'look', { content: { text: 'look', attachments: [{ path }] } }));
  const file = core.engine.requests[0]?.attachments[0]?.path ?? '';
  expect(existsSync(file)).toBe(true);
  await handle(from('boss', '/new'));
  expect(existsSync(file)).toBe(false);
  expect(existsSync(path)).toBe(true);
});

test('concurrent attempts to link a sender link it to one person, whose rights apply from then on', async () => {
  await handle(from('new', 'let me in', { intake: { pairing: true } }));
  const [waiting] = (await core.app.inject('/trust/pending')).json<{ pending: { id: string; code: string }[] }>().pending;
  const people = (await core.app.inject('/trust/principals')).json<{ principals: { id: string; key: string }[] }>().principals;
  const link = (who: string) => ({ principal_id: people.find((one) => one.key === who)?.id });
  const answers = await Promise.all([
    core.app.inject({ method: 'POST', url: `/trust/pending/${waiting?.id}/link`, payload: link('kim') }),
    core.app.inject({ method: 'POST', url: `/trust/pending/${waiting?.id}/link`, payload: link('boss') }),
    core.app.inject({ method: 'POST', url: '/trust/pair', payload: { code: waiting?.code, as: 'owner' } }),
    handle(from('new', 'meanwhile')),
  ]);
  const codes = answers.slice(0, 3).map((answer) => ('statusCode' in answer ? answer.statusCode : 0));
  expect(codes.filter((code) => code === 200)).toHaveLength(1);
  expect((await handle(from('new', '/status'))).actions[0]?.text).toMatch(/^You: kim \(trusted/);
});
