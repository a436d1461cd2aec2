import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openPostboxBench } from './open-postbox-bench.ts';

const bench = openPostboxBench();
const { create, posted, send } = bench;

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'key-1' };
  type Part = { text?: string; path?: string; caption?: string };
  test('returns the first answer to a repeat, without sending twice', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'b1', text: 'x' };
    const first = await send(message, key);
    await bench.manager.call('POST', `/instances/${id}/stop`);
    expect(await send(message, key)).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  test.each<[string, Part, Part]>([
    ['text', { text: 'x' }, { text: 'y' }],
    ['caption', { path: 'cat.png', caption: 'x' }, { path: 'cat.png', caption: 'y' }],
    ['file', { path: 'cat.png' }, { path: 'dog.png' }],
  ])('is refused for another %s to the same target, concurrently and later', async (_, one, other) => {
    mkdirSync(path.join(bench.manager.dataDir, 'uploads'), { recursive: true });
    for (const name of ['cat.png', 'dog.png']) writeFileSync(path.join(bench.manager.dataDir, 'uploads', name), 'x');
    const { id } = await create();
    const messageOf = (part: Part) => ({
      instance_id: id,
      target: 'slow',
      ...part,
      ...(part.path !== undefined && { path: path.join(bench.manager.dataDir, 'uploads', part.path) }),
    });
    const [first, atOnce] = await Promise.all([send(messageOf(one), key), send(messageOf(other), key)]);
    const inTurn = await send(messageOf(other), key);
    expect([first.status, atOnce.status, inTurn.status]).toEqual([200, 422, 422]);
    expect(posted(id)).toHaveLength(1);
  });

  test('accepts a changed text from a sender that declares that it may change', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'slow', text: 'x' };
    const changing = { ...key, 'idempotency-text': 'may-change' };
    const masked = { ...message, text: 'masked otherwise by now' };
    const [first, atOnce] = await Promise.all([send(message, changing), send(masked, changing)]);
    expect([first.status, atOnce, await send(masked, changing)]).toEqual([200, first, first]);
    expect((await send({ ...masked, target: 'b2' }, changing)).status).toBe(422);
    expect((await send(message, { ...key, 'idempotency-text': 'yes' })).status).toBe(400);
    expect(posted(id)).toHaveLength(1);
  });

  test('recorded by an earlier version accepts any text to its target', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'b1', text: 'x' };
    const first = await send(message, key);
    const db = new DatabaseSync(path.join(bench.manager.dataDir, 'manager.db'));
    db.exec('UPDATE sent_message SET digest = NULL');
    db.close();
    expect(await send({ ...message, text: 'y' }, key)).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  test('sends two concurrent requests once', async () => {
    const { id } = await create();
    const message = { instance_id: id, target: 'slow', text: 'x' };
    const [first, second] = await Promise.all([send(message, key), send(message, key)]);
    expect(second).toEqual(first);
    expect(posted(id)).toHaveLength(1);
  });

  test('keeps a permanent refusal, and retries a temporary one under the same id', async () => {
    const { id } = await create();
    const refused = { instance_id: id, target: 'nowhere', text: 'x' };
    const first = await send(refused, key);
    expect(first.status).toBe(422);
    expect((await send(refused, key)).body['id']).toBe(first.body['id']);
    const busy = { instance_id: id, target: 'busy', text: 'x' };
    const ids = [await send(busy, { 'idempotency-key': 'key-2' }), await send(busy, { 'idempotency-key': 'key-2' })];
    expect(ids[1]?.body['id']).toBe(ids[0]?.body['id']);
  });

  test('is refused for another target, and when it is blank', async () => {
    const { id } = await create();
    await send({ instance_id: id, target: 'b1', text: 'x' }, key);
    expect((await send({ instance_id: id, target: 'b2', text: 'x' }, key)).status).toBe(422);
    expect((await send({ instance_id: id, target: 'b1', text: 'x' }, { 'idempotency-key': ' ' })).status).toBe(400);
    expect(posted(id)).toHaveLength(1);
  });

  test('sends a message once even if the connector dies after its platform accepted it', async () => {
    const { id } = await create();
    const reply = await send({ instance_id: id, target: 'fatal', text: 'x' }, key);
    expect(reply).toMatchObject({ status: 200, body: { delivered: true } });
    expect(posted(id)).toHaveLength(1);
  });
});
