import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import type { HeldAnnouncement } from '@svc/contract/send.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openKitManager, openManager, type OpenManager } from './open-manager.ts';
import { postedBy, eventually } from './waiting.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

let manager: OpenManager;
beforeAll(async () => {
  manager = await openKitManager();
});
afterAll(() => manager.close());
afterEach(async () => {
  const instances = (await manager.call('GET', '/instances')).body['instances'] as Instance[];
  for (const { id } of instances) await manager.call('DELETE', `/instances/${id}`);
});

async function create(over: object = {}, config: object = {}): Promise<string> {
  const body = { type: 'postbox', name: 'Box', enabled: true, config, ...over };
  return ((await manager.call('POST', '/instances', body)).body['instance'] as Instance).id;
}
const read = async (id: string) =>
  (await manager.call('GET', `/instances/${id}`)).body as { instance: Instance; announcements: HeldAnnouncement[] };
const isFresh = (id: string) =>
  eventually(
    async () => (await read(id)).instance,
    (instance) => instance.heartbeat === 'fresh',
  );
const announce = (instance: string, target: string, text: string) =>
  manager.call('POST', '/announce', { instance_id: instance, target, text });
const restart = (id: string) => manager.call('POST', `/instances/${id}/restart`);
const held = async (id: string) => (await read(id)).announcements;
const none = (announcements: HeldAnnouncement[]) => announcements.length === 0;
const textsOf = (id: string) => postedBy(manager.dataDir, id).map(({ text }) => text);

describe('POST /announce', () => {
  test('[M12] holds a message until the next restart of its instance, and delivers it once over two restarts', async () => {
    const id = await create();
    await isFresh(id);
    const { status, body } = await announce(id, 'b1', 'I am back');
    expect([status, body]).toMatchObject([200, { ok: true, instance_id: id, queued: true, id: expect.stringMatching(/^ann_/) }]);
    // A message to the same instance shows that the way is open; the announcement does not take it yet.
    await manager.call('POST', '/send', { instance_id: id, target: 'b1', text: 'now' });
    expect(await held(id)).toMatchObject([{ text: 'I am back', target: 'b1', state: 'waiting', attempts: 0 }]);
    await restart(id);
    await eventually(() => held(id), none);
    await restart(id);
    await isFresh(id);
    expect(textsOf(id)).toEqual(['now', 'I am back']);
  });

  test('does not deliver a message that was taken back, which works only through its own instance', async () => {
    const id = await create({ enabled: false });
    const other = await create({ enabled: false, name: 'Other' });
    for (const text of ['one', 'two']) await announce(id, 'b1', text);
    const first = (await held(id))[0]?.id ?? '';
    const take = (instance: string, held: string) => manager.call('DELETE', `/instances/${instance}/announcements/${held}`);
    expect((await take(other, first)).status).toBe(404);
    expect((await take(id, first)).body).toEqual({ ok: true });
    expect((await take(id, first)).status).toBe(404);
    await manager.call('POST', `/instances/${id}/start`);
    await eventually(() => held(id), none);
    expect(textsOf(id)).toEqual(['two']);
  });

  test('delivers messages for a stopped instance in order once it is started', async () => {
    const id = await create({ enabled: false });
    for (const text of ['one', 'two', 'three']) await announce(id, 'b1', text);
    await manager.call('POST', `/instances/${id}/start`);
    await eventually(() => held(id), none);
    expect(textsOf(id)).toEqual(['one', 'two', 'three']);
  });

  test('also delivers after a crash', async () => {
    const id = await create();
    const { pid } = await isFresh(id);
    await announce(id, 'b1', 'risen');
    signalProcess(pid, 'SIGKILL');
    await eventually(() => held(id), none);
    expect(textsOf(id)).toEqual(['risen']);
  });

  test('waits until a started instance is healthy', async () => {
    const id = await create({ enabled: false }, { unwell: true });
    await announce(id, 'b1', 'connected');
    const { body } = await manager.call('POST', `/instances/${id}/start`);
    expect(body['instance']).toMatchObject({ status: 'running', heartbeat: 'unknown' });
    await manager.call('POST', '/send', { instance_id: id, target: 'b1', text: 'now' });
    expect(await held(id)).toMatchObject([{ attempts: 0 }]);
    writeFileSync(path.join(manager.dataDir, 'instances', id, 'well'), '');
    await eventually(() => held(id), none);
    expect(textsOf(id)).toEqual(['now', 'connected']);
  });

  test('marks a message that the channel rejects for good as failed, and goes on with the next', async () => {
    const id = await create({ enabled: false });
    await announce(id, 'nowhere', 'lost');
    await announce(id, 'b1', 'found');
    await manager.call('POST', `/instances/${id}/start`);
    const [left, ...others] = await eventually(
      () => held(id),
      (announcements) => announcements.length === 1,
    );
    expect(others).toEqual([]);
    expect(left).toMatchObject({ text: 'lost', state: 'failed', attempts: 1, error: 'There is no box "nowhere".' });
    expect(textsOf(id)).toEqual(['found']);
  });

  test('does not repeat a message when the connector dies right after its platform accepted it', async () => {
    const id = await create({ enabled: false });
    await announce(id, 'fatal', 'last words');
    await manager.call('POST', `/instances/${id}/start`);
    await eventually(() => held(id), none);
    expect(textsOf(id)).toEqual(['last words']);
  });

  test('holds at most 100 messages for an instance, and drops those of a deleted one', async () => {
    const id = await create({ enabled: false });
    for (let i = 0; i < 100; i++) expect((await announce(id, 'b1', String(i))).status).toBe(200);
    expect((await announce(id, 'b1', 'too many')).status).toBe(429);
    await manager.call('DELETE', `/instances/${id}`);
    const other = await create({ enabled: false });
    expect((await announce(other, 'b1', 'room again')).status).toBe(200);
  });
});

test.each([
  ['an unknown instance', { instance_id: 'nobody', target: 'b', text: 'x' }, 404],
  ['an unknown channel', { channel: 'nothing', target: 'b', text: 'x' }, 404],
  ['a type that only answers', { channel: 'single', target: 'b', text: 'x' }, 409],
  ['two that answer to the name', { channel: 'postbox', target: 'b', text: 'x' }, 409],
  ['no target', { instance_id: 'postbox', text: 'x' }, 400],
  ['no text', { instance_id: 'postbox', target: 'b', text: ' ' }, 400],
  ['no place', { target: 'b', text: 'x' }, 400],
])('refuses an announcement for %s', async (_, body, status) => {
  const open = await openManager();
  try {
    for (const type of ['single', 'postbox', 'postbox']) await open.call('POST', '/instances', { type, name: 'x' });
    expect((await open.call('POST', '/announce', body)).status).toBe(status);
  } finally {
    await open.close();
  }
});
