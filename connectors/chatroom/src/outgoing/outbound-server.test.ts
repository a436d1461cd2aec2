import { fakeContext } from '@svc/connector-kit/testing';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, test, onTestFinished } from 'vitest';
import type { Room } from '../chatroom-deps.ts';
import { createChannels, createOutboundServer } from './outbound-server.ts';
import { general } from './testing/fake-rest.ts';

const secret = 'the-key-of-a-program';
const ann = '2000000000000000001';

const room = (id: string, fields: Partial<Room> = {}): Room => ({
  id,
  name: 'general',
  guildId: '3000000000000000001',
  guildName: 'Work',
  kind: 'text',
  ...fields,
});

function channelsOf(rooms: Room[]) {
  const chosen = new Map<string, boolean>();
  const toggles = {
    isEnabled: (id: string) => chosen.get(id) ?? true,
    set: (id: string, on: boolean) => void chosen.set(id, on),
  };
  return createChannels({
    rooms: { list: async () => rooms, find: async (id) => rooms.find((each) => each.id === id) ?? null },
    toggles,
  });
}

async function openServer({ key = secret as string | null, dmAllowed = '' } = {}) {
  const folder = temporaryFolder();
  const sent: object[] = [];
  const { context, saved } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  const server = createOutboundServer(context, {
    send: async (message) => void sent.push(message),
    key,
    dmAllowed,
    rooms: { list: async () => [room(general)], find: async () => null },
    toggles: { isEnabled: () => true, set: () => undefined },
  });
  const { url } = await server.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await server.stop(1000);
    folder.remove();
  });
  const post = async (path: string, body: object | string, headers: Record<string, string> = {}) => {
    const isText = typeof body === 'string';
    const given = { authorization: `Bearer ${secret}`, 'content-type': isText ? 'image/png' : 'application/json', ...headers };
    const answer = await fetch(url + path, { method: 'POST', headers: given, body: isText ? body : JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { post, sent, saved, url };
}

describe('outbound server', () => {
  test('sends texts and files to channels and people', async () => {
    const { post, sent, saved } = await openServer();
    expect((await post('/send', { channel_id: general, text: 'hi', id: 'mine' })).body).toEqual({ ok: true, id: 'mine' });
    await post(`/send-file?channel_id=user:${ann}&name=a.png&caption=and`, 'bytes');
    expect(sent).toMatchObject([
      { id: 'mine', target: general, kind: 'text', text: 'hi' },
      { target: `user:${ann}`, kind: 'document', path: saved[0]?.path, caption: 'and' },
    ]);
  });

  test.each(['', 'general', 12, `${general}x`, '../users/@me', null])('rejects the target %j', async (channel_id) => {
    const { post, sent } = await openServer();
    expect((await post('/send', { channel_id, text: 'x' })).status).toBeGreaterThanOrEqual(400);
    expect(sent).toEqual([]);
  });

  test('rejects private messages to others when only one person is allowed', async () => {
    const { post, sent } = await openServer({ dmAllowed: ann });
    expect((await post('/send', { channel_id: 'user:2000000000000000002', text: 'x' })).status).toBe(403);
    expect((await post('/send', { channel_id: `user:${ann}`, text: 'x' })).status).toBe(200);
    expect(sent).toHaveLength(1);
  });

  test('rejects requests without the key, and shows channels to the manager only', async () => {
    const { post, sent, url } = await openServer();
    for (const path of ['/send', '/send-file'])
      expect((await post(path, {}, { authorization: 'Bearer wrong' })).status).toBe(401);
    for (const authorization of ['', `Bearer ${secret}`])
      expect((await fetch(`${url}/channels`, { headers: { authorization } })).status).toBe(401);
    const closed = await openServer({ key: null });
    expect((await closed.post('/send', { channel_id: general, text: 'x' })).status).toBe(401);
    expect([sent, closed.sent]).toEqual([[], []]);
  });
});

describe('channels', () => {
  const thread = '1000000000000000005';

  test('are listed with their server, and disabled together with their threads', async () => {
    const { channels, toggleChannel } = channelsOf([
      room(general),
      room(thread, { name: 'plans', kind: 'thread', parentId: general }),
    ]);
    expect(await channels()).toEqual([
      { id: general, name: 'general', enabled: true, kind: 'text', guild_id: '3000000000000000001', guild_name: 'Work' },
      expect.objectContaining({ id: thread, enabled: true, parent_id: general }),
    ]);
    expect(await toggleChannel(general, false)).toMatchObject({ enabled: false });
    expect((await channels()).map(({ enabled }) => enabled)).toEqual([false, false]);
    await toggleChannel(general, true);
    await toggleChannel(thread, false);
    expect((await channels()).map(({ enabled }) => enabled)).toEqual([true, false]);
  });

  test.each(['1000000000000000009', '', '../x', 'user:2000000000000000001'])('cannot be disabled if unknown: %j', async (id) => {
    const { toggleChannel } = channelsOf([room(general)]);
    await expect(toggleChannel(id, false)).rejects.toMatchObject({ code: 'not_found' });
  });
});
