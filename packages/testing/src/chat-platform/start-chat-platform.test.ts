import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../fake-clock.ts';
import type { PlatformMessage, PlatformUpdate } from './platform-types.ts';
import { startChatPlatform, type ChatPlatform } from './start-chat-platform.ts';

let platform: ChatPlatform;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock();
  platform = await startChatPlatform({ clock });
});
afterEach(() => platform.close());

const ask = (method: string, path: string, body?: object, token = platform.token) =>
  fetch(platform.url + path, {
    method,
    headers: { authorization: `Bot ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const answer = async (method: string, path: string, body?: object) => {
  const { status, json } = await ask(method, path, body).then(async (it) => ({
    status: it.status,
    json: (await it.json()) as object,
  }));
  return [status, json];
};
const updates = async (after: number, wait = 0) => {
  const body = (await (await ask('GET', `/updates?after=${after}&wait=${wait}`)).json()) as { updates: PlatformUpdate[] };
  return body.updates;
};
const post = async (text: string, fields: object = {}): Promise<PlatformMessage> =>
  (await (await ask('POST', '/chats/ann/messages', { text, ...fields })).json()) as PlatformMessage;
const textsTo = (chat: string) => platform.replies(chat).map(({ text, isDeleted }) => (isDeleted ? 'deleted' : text));
const png = (name: string) => ({ name, mime: 'image/png', bytes: new Uint8Array([137, 80, 78, 71]) });

describe('updates', () => {
  test('are repeated in order until a poll confirms them', async () => {
    const first = platform.say({ chat: 'ann', from: 'ann', text: 'one' });
    platform.edit(first.id, 'two');
    platform.remove(first.id);
    const all = await updates(0);
    expect(all).toEqual([
      {
        id: 1,
        kind: 'message',
        message: expect.objectContaining({ text: 'one', chat: { id: 'ann', kind: 'private', title: 'ann' } }),
      },
      { id: 2, kind: 'edited', message: expect.objectContaining({ id: first.id, text: 'two' }) },
      { id: 3, kind: 'deleted', message: expect.objectContaining({ id: first.id, text: 'two' }) },
    ]);
    expect(await updates(0)).toEqual(all);
    expect(await updates(2)).toEqual(all.slice(2));
    expect([await updates(0), platform.passed]).toEqual([all.slice(2), 2]);
  });

  test('wake a long poll, which otherwise ends after its time', async () => {
    const waiting = updates(0, 30);
    await expect.poll(() => platform.calls.length).toBe(1);
    platform.say({ chat: 'ann', from: 'ann', text: 'hello' });
    expect(await waiting).toMatchObject([{ kind: 'message' }]);
    const empty = updates(1, 30);
    await expect.poll(() => platform.calls.length).toBe(2);
    clock.advance(30_000);
    expect(await empty).toEqual([]);
  });

  test('go to one poll: a newer one ends the waiting one', async () => {
    const older = ask('GET', '/updates?after=0&wait=30');
    await expect.poll(() => platform.calls.length).toBe(1);
    const newer = ask('GET', '/updates?after=0&wait=30');
    expect((await older).status).toBe(409);
    platform.say({ chat: 'ann', from: 'ann', text: 'hello' });
    expect((await newer).status).toBe(200);
  });

  test('report each part of an album, reactions and buttons', async () => {
    platform.openGroup('room', 'The room');
    const parts = platform.sayAlbum({ chat: 'room', from: 'bob', text: 'look', mentions_bot: true }, [
      png('a.png'),
      png('b.png'),
    ]);
    expect(new Set(parts.map(({ album }) => album)).size).toBe(1);
    const { id } = platform.say({ chat: 'ann', from: 'ann', text: 'x' });
    platform.react(id, 'ann', '👍');
    const choice = await post('yes?', { buttons: [{ id: 'y', label: 'Yes' }] });
    platform.press(choice.id, 'ann', 'y');
    expect(() => platform.press(choice.id, 'ann', 'n')).toThrow('has no button n');
    expect(await updates(0)).toMatchObject([
      {
        kind: 'message',
        message: { text: 'look', file: { name: 'a.png', size: 4 }, chat: { kind: 'group' }, mentions_bot: true },
      },
      { kind: 'message', message: { text: '', file: { name: 'b.png' } } },
      { kind: 'message' },
      { kind: 'reaction', message_id: id, emoji: '👍' },
      { kind: 'press', message: { id: choice.id }, button_id: 'y', from: { id: 'ann', bot: false } },
    ]);
  });
});

describe('bot', () => {
  beforeEach(() => void platform.say({ chat: 'ann', from: 'ann', text: 'hello' }));

  test('posts, edits and deletes its own messages only', async () => {
    const { id } = await post('first');
    expect((await answer('PATCH', `/chats/ann/messages/${id}`, { text: 'second' }))[0]).toBe(200);
    const again = await answer('PATCH', `/chats/ann/messages/${id}`, { text: 'second' });
    expect(again).toEqual([400, { error: 'not_modified' }]);
    expect(platform.replies('ann')).toMatchObject([{ texts: ['first', 'second'] }]);
    expect((await answer('DELETE', `/chats/ann/messages/${id}`))[0]).toBe(200);
    expect(await answer('DELETE', `/chats/ann/messages/${id}`)).toEqual([404, { error: 'message_not_found' }]);
    expect(await answer('DELETE', '/chats/ann/messages/101')).toEqual([403, { error: 'not_your_message' }]);
    expect(textsTo('ann')).toEqual(['deleted']);
  });

  test.each([
    ['/chats/ann/messages', { text: 'x'.repeat(501) }, 400, 'text_is_too_long'],
    ['/chats/ann/messages', { text: ' ' }, 400, 'text_is_empty'],
    ['/chats/nobody/messages', { text: 'x' }, 404, 'chat_not_found'],
    ['/elsewhere', {}, 404, 'no_such_route'],
  ])('is rejected at %s with %o', async (path, body, status, code) => {
    expect(await answer('POST', path, body)).toEqual([status, { error: code }]);
    expect(platform.replies('ann')).toEqual([]);
  });

  test('is rejected without its token', async () => {
    expect((await ask('GET', '/me', undefined, 'wrong')).status).toBe(401);
  });

  test('types, reacts, and fetches and posts files', async () => {
    const { file } = platform.say({ chat: 'ann', from: 'ann', text: '', file: png('a.png') });
    expect(new Uint8Array(await (await ask('GET', `/files/${file?.id}`)).arrayBuffer())).toEqual(png('').bytes);
    expect((await answer('PUT', '/chats/ann/messages/101/reaction', { emoji: '👀' }))[0]).toBe(200);
    expect((await answer('POST', '/chats/ann/typing'))[0]).toBe(200);
    const posted = await answer('POST', '/chats/ann/files?name=list.txt&text=here', { milk: 1 });
    expect(posted).toMatchObject([200, { text: 'here', file: { name: 'list.txt', mime: 'application/json', size: 10 } }]);
  });

  test('deduplicates and finds messages by nonce if the rules say so', async () => {
    await post('one', { nonce: 'n1' });
    await post('two', { nonce: 'n1' });
    expect((await answer('GET', '/chats/ann/messages?nonce=n1'))[0]).toBe(404);
    platform.rules.dedupesNonces = platform.rules.findsNonces = true;
    const { id, text } = await post('three', { nonce: 'n1' });
    expect(text).toBe('one');
    expect(await answer('GET', '/chats/ann/messages?nonce=n1')).toMatchObject([200, { messages: [{ id }] }]);
    expect(await answer('GET', '/chats/ann/messages?nonce=n2')).toEqual([200, { messages: [] }]);
    expect(textsTo('ann')).toEqual(['one', 'two']);
  });

  test('has to wait when it writes too fast, and longer if it does not wait', async () => {
    platform.rules.limit = { burst: 2, perMs: 1000, penaltyMs: 3000 };
    const tries = async (ms: number) => {
      clock.advance(ms);
      return answer('POST', '/chats/ann/messages', { text: `at ${ms}` });
    };
    expect((await tries(0))[0]).toBe(200);
    expect((await tries(0))[0]).toBe(200);
    expect(await tries(0)).toEqual([429, { error: 'too_many_requests', retry_after: 3 }]);
    expect(await tries(2999)).toEqual([429, { error: 'too_many_requests', retry_after: 6 }]);
    expect((await tries(6000))[0]).toBe(200);
    platform.say({ chat: 'bob', from: 'bob', text: 'hi' });
    expect((await answer('POST', '/chats/bob/messages', { text: 'x' }))[0]).toBe(200);
  });
});

describe('faults', () => {
  beforeEach(() => void platform.say({ chat: 'ann', from: 'ann', text: 'hello' }));

  test.each([
    ['cut before', [], null],
    ['cut after', ['x'], 200],
    [{ status: 502, when: 'before' }, [], 200],
    [{ status: 502, when: 'after' }, ['x'], 200],
  ] as const)('%o leaves the messages %o', async (fault, left, status) => {
    platform.failNext(/^POST \/chats/, fault);
    expect((await ask('GET', '/me')).status).toBe(200);
    const asked = ask('POST', '/chats/ann/messages', { text: 'x' });
    if (typeof fault === 'string') await expect(asked).rejects.toThrow();
    else expect((await asked).status).toBe(502);
    expect([textsTo('ann'), platform.calls.at(-1)?.status]).toEqual([left, status]);
    expect((await answer('POST', '/chats/ann/messages', { text: 'y' }))[0]).toBe(200);
  });

  test('can be a slow answer or none, chosen per request', async () => {
    platform.fault = ({ method }) => (method === 'POST' ? 'no answer' : { slowMs: 5 });
    expect((await ask('GET', '/me')).status).toBe(200);
    const asked = ask('POST', '/chats/ann/messages', { text: 'x' });
    await expect.poll(() => textsTo('ann')).toEqual(['x']);
    platform.cutConnections();
    await expect(asked).rejects.toThrow();
  });
});
