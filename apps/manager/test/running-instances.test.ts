import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { openPostboxBench } from './open-postbox-bench.ts';
import { eventually } from './waiting.ts';

const bench = openPostboxBench();
const { create, list } = bench;

describe('/instances/:id/channels', () => {
  test('lists the channels of the connector, and toggles one permanently without a restart', async () => {
    const { id, pid } = await create();
    const channels = async () => (await bench.manager.call('GET', `/instances/${id}/channels`)).body['channels'];
    expect(await channels()).toMatchObject([
      { id: 'lobby', enabled: true },
      { id: 'attic', enabled: true },
    ]);
    const toggled = await bench.manager.call('POST', `/instances/${id}/channels`, { channel_id: 'attic', enabled: false });
    expect(toggled).toEqual({ status: 200, body: { ok: true, channel: { id: 'attic', name: 'The attic', enabled: false } } });
    expect((await list())[0]?.pid).toBe(pid);
    await bench.manager.call('POST', `/instances/${id}/restart`);
    expect(await channels()).toMatchObject([
      { id: 'lobby', enabled: true },
      { id: 'attic', enabled: false },
    ]);
  });

  test.each([
    ['of a room that is not there', { channel_id: 'cellar', enabled: true }, 404],
    ['that is no choice', { channel_id: 'attic' }, 400],
  ])('refuses a toggle %s', async (_, body, status) => {
    const { id } = await create();
    expect((await bench.manager.call('POST', `/instances/${id}/channels`, body)).status).toBe(status);
  });

  test('is 404 for an unknown instance, 409 for one that does not run or has no channels', async () => {
    const { id } = await create({ enabled: false });
    const { id: silent } = await create({ name: 'Silent' }, { silent: true });
    const statusOf = async (instance: string) => (await bench.manager.call('GET', `/instances/${instance}/channels`)).status;
    expect([await statusOf('nobody'), await statusOf(id), await statusOf(silent)]).toEqual([404, 409, 409]);
  });
});

test('shows the memory that each process uses', async () => {
  const { id } = await create();
  const { usage } = await eventually(
    async () => (await bench.manager.call('GET', `/instances/${id}`)).body['instance'] as Instance,
    (instance) => instance.usage !== null,
  );
  expect(usage?.memory_bytes).toBeGreaterThan(10_000_000);
  expect(readFileSync(path.join(bench.manager.dataDir, 'instances', id, 'sent-ids'), 'utf8')).toBe('');
});
