import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import type { ChannelMessage } from '../src/delivery/channel-sender.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'messenger:m1:user:1';
const sent: ChannelMessage[] = [];
let core: TestCore;
let clock: FakeClock;
beforeEach(async () => {
  sent.length = 0;
  clock = createFakeClock();
  const sendToChannel = (message: ChannelMessage) => {
    sent.push(message);
    return Promise.resolve({ delivered: true } as const);
  };
  core = await openTestCore({ clock, sendToChannel });
  // The same name on two channels is two people with different rights.
  await core.addPrincipal('anna', 'owner', 'messenger');
  await core.context.db
    .run(`INSERT INTO principal (id, key, display_name, status, bypass_moderation, notes, created_at, updated_at)
    VALUES ('p2', 'anna-2', 'other anna', 'active', 0, '', 0, 0)`);
  await core.context.db.run(`INSERT INTO identifier (id, principal_id, surface, value) VALUES ('i2', 'p2', 'device', 'anna')`);
  await core.context.db.run(
    `INSERT INTO trust_grant (id, principal_id, role_id) SELECT 'g2', 'p2', id FROM role WHERE name = 'guest'`,
  );
  core.context.trust.changed();
});
afterEach(() => core.close());

const from = (channel: string, text: string, over: Partial<Envelope> = {}) =>
  envelope(text, { channel, conversation_key: key, sender: { raw_id: 'anna' }, ...over });
const gathered = { intake: { debounce_ms: 500 } };
const handle = async (message: Envelope) => {
  const response = await core.handle(message);
  return { status: response.statusCode, body: response.json<HandleResult & { error?: string }>() };
};

describe('gathered messages', () => {
  /** Runs messages of one batch; returns what the engine was asked, with the rights of each turn. */
  async function gather(...messages: Envelope[]) {
    const { pipeline } = core.context;
    const answers = [];
    for (const message of messages) {
      answers.push(handle(message));
      await expect.poll(() => core.context.pipeline.liveCount()).toBe(answers.length);
      await expect.poll(() => pipeline.isBusy(message.conversation_key)).toBe(true);
    }
    await new Promise(setImmediate);
    clock.advance(3000);
    await Promise.all(answers);
    return core.engine.requests.map(({ text, toolPolicy }) => ({ text, toolPolicy }));
  }

  test('of one sender are merged into one turn', async () => {
    const asked = await gather(from('messenger', 'a', gathered), from('messenger', 'b', gathered));
    expect(asked).toEqual([{ text: 'a\nb', toolPolicy: 'full' }]);
  });

  test('of the same name on another channel are separate turns with separate rights', async () => {
    const asked = await gather(from('device', 'delete everything', gathered), from('messenger', 'hello', gathered));
    expect(asked.toSorted((a, b) => (a.text < b.text ? -1 : 1))).toEqual([
      { text: 'delete everything', toolPolicy: 'none' },
      { text: 'hello', toolPolicy: 'full' },
    ]);
  });

  test.each([
    ['public and private', { public: true }],
    ['for two chats', { channel_context: { chatId: 'other' } }],
  ])('that are %s are separate turns', async (_how, over) => {
    expect(await gather(from('messenger', 'a', gathered), from('messenger', 'b', { ...gathered, ...over }))).toHaveLength(2);
  });

  test('of one person in public and in private are separate turns', async () => {
    const room = { ...gathered, conversation_key: 'room' };
    const asked = await gather(from('device', 'a', room), from('device', 'b', { ...room, public: true }));
    expect(asked.map(({ text }) => text).toSorted()).toEqual(['a', 'b']);
  });

  test('before and after a change of trust are separate turns', async () => {
    const first = handle(from('device', 'a', gathered));
    await expect.poll(() => core.context.pipeline.isBusy(key)).toBe(true);
    await core.context.db.run(`UPDATE trust_grant SET role_id = (SELECT id FROM role WHERE name = 'owner') WHERE id = 'g2'`);
    core.context.trust.changed();
    const second = handle(from('device', 'b', gathered));
    await expect.poll(() => core.context.pipeline.liveCount()).toBe(2);
    await new Promise(setImmediate);
    clock.advance(3000);
    await Promise.all([first, second]);
    expect(core.engine.requests).toHaveLength(2);
  });

  test('of conversations with similar keys are separate turns', async () => {
    await core.addPrincipal('x\u0001y', 'known', 'messenger');
    const one = from('messenger', 'a', { ...gathered, conversation_key: 'messenger:m1:a', sender: { raw_id: 'anna' } });
    const other = from('messenger', 'b', { ...gathered, conversation_key: 'messenger:m1:a|anna', sender: { raw_id: 'anna' } });
    expect(await gather(one, other)).toHaveLength(2);
  });
});

describe('a repeated message', () => {
  const message = (channel: string, over: Partial<Envelope> = {}) =>
    from(channel, 'what is the code?', { message_id: '7', ...over });

  test('gets the answer again from the same sender on the same channel', async () => {
    const first = await handle(message('messenger'));
    expect(await handle(message('messenger'))).toEqual(first);
    expect(core.engine.requests).toHaveLength(1);
  });

  test.each([
    ['the same name on another channel', message('device')],
    ['the same name in public', message('messenger', { public: true })],
    ['another name', message('messenger', { sender: { raw_id: 'bo' } })],
  ])('is rejected when it comes from %s', async (_who, other) => {
    await core.addPrincipal('bo', 'known', 'messenger');
    await handle(message('messenger'));
    expect(await handle(other)).toMatchObject({ status: 409, body: { error: 'conflict' } });
  });

  test.each([
    ['the same name on another channel', message('device')],
    ['the same name in public', message('messenger', { public: true })],
  ])('is rejected while its turn runs when it comes from %s', async (_who, other) => {
    core.engine.script(workingUntilAborted('so far'));
    const working = handle(message('messenger'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    expect(await handle(other)).toMatchObject({ status: 409, body: { error: 'conflict' } });
    core.context.pipeline.abort(key);
    await working;
  });

  test('stored by an earlier version is answered only in private on the channel of its key', async () => {
    const first = await handle(message('messenger'));
    await core.context.db.run('UPDATE turn SET channel = NULL, public = NULL');
    expect(await handle(message('messenger'))).toEqual(first);
    expect(await handle(message('device'))).toMatchObject({ status: 409 });
    expect(await handle(message('messenger', { public: true }))).toMatchObject({ status: 409 });
  });

  test('is not confused with one of another conversation when keys and ids are similar', async () => {
    core.engine.script(workingUntilAborted('so far'));
    const one = { conversation_key: 'messenger:m1:a', message_id: 'b|c' };
    const other = { conversation_key: 'messenger:m1:a|b', message_id: 'c' };
    const working = [handle(message('messenger', one)), handle(message('messenger', other))];
    await expect.poll(() => core.context.pipeline.counts().running).toBe(2);
    for (const { conversation_key } of [one, other]) core.context.pipeline.abort(conversation_key);
    await Promise.all(working);
  });

  test('that is observed is stored once per sender', async () => {
    const seen = (channel: string) => message(channel, { delivery: 'async' });
    for (const channel of ['device', 'messenger', 'messenger']) await handle(seen(channel));
    expect(await core.context.observed.list(key)).toHaveLength(2);
  });
});

describe('push route of a session', () => {
  const route = async () => {
    const { outbound_instance_id: instance, outbound_target: target } = (await core.context.sessions.read(key))!;
    return [instance, target];
  };
  const to = (chatId: unknown) => ({ channel_context: { chatId } });

  test('and its owner are not changed by a message of another channel', async () => {
    await handle(from('messenger', 'hi', { ...to('room'), public: true }));
    const before = await core.context.sessions.read(key);
    await handle(from('device', 'hi', to('chat of the attacker')));
    const after = await core.context.sessions.read(key);
    expect(await route()).toEqual(['m1', 'room']);
    for (const field of ['surface', 'instance_id', 'principal_id', 'public'] as const)
      expect(after?.[field]).toBe(before?.[field]);
    const response = await core.app.inject({
      method: 'POST',
      url: '/v2/inject',
      payload: { conversation_key: key, text: 'secret' },
    });
    expect(response.json<InjectAnswer>().route).toEqual({ instance_id: 'm1', target: 'room' });
    expect(sent.map(({ instance_id, target }) => [instance_id, target])).toEqual([['m1', 'room']]);
  });

  test('is not set by another channel that writes first, and the session passes to its own channel', async () => {
    await handle(from('device', 'hi', to('chat of the attacker')));
    expect(await route()).toEqual([null, null]);
    await handle(from('messenger', 'hi', to('room')));
    expect(await core.context.sessions.read(key)).toMatchObject({ surface: 'messenger', instance_id: 'm1' });
    expect(await route()).toEqual(['m1', 'room']);
  });

  test('follows the latest target of its own channel, and ignores messages without one', async () => {
    for (const place of [to('room'), {}, to(null), to({ a: 1 })]) await handle(from('messenger', 'hi', place));
    expect(await route()).toEqual(['m1', 'room']);
    await handle(from('messenger', 'hi', to(7)));
    expect(await route()).toEqual(['m1', '7']);
  });

  test('is absent when the stored instance differs from the one in the key', async () => {
    await handle(from('messenger', 'hi', to('room')));
    for (const [instance, target] of [
      ['m2', 'room'],
      [null, 'room'],
      ['m1', null],
      ['m1', 'x'.repeat(9_000_000)],
    ] as const) {
      await core.context.db.run('UPDATE session SET outbound_instance_id = ?, outbound_target = ?', instance, target);
      const payload = { conversation_key: key, text: 'words' };
      const { route: used, delivered } = (
        await core.app.inject({ method: 'POST', url: '/v2/inject', payload })
      ).json<InjectAnswer>();
      expect([used, delivered]).toEqual([null, false]);
    }
    expect(sent).toEqual([]);
  });
});
