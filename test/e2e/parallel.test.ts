import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { openHouse, type House } from '@svc/testing/house.ts';

const slots = 4;
let house: House;
beforeAll(async () => {
  house = await openHouse({ env: { SVC_MAX_CONCURRENT_TURNS: String(slots) } });
});
afterAll(() => house.stop());

const turn = (key: string, text: string) =>
  house.post<HandleResult>(`${house.urls.core}/v2/handle`, {
    channel: 'compat',
    conversation_key: key,
    sender: { raw_id: 'owner' },
    content: { text },
  });

/**
 * When each turn certainly ran, from its telemetry. The end is a time of day and the length comes from a monotonic clock,
 * both in whole milliseconds: the beginning may seem one earlier than it was.
 */
async function runs(prefix: string) {
  const { events } = await house.get<{ events: TelemetryEvent[] }>(`${house.urls.collector}/api/events?limit=1000`);
  const replies = events.filter((event) => event.kind === 'outbound' && event.session?.startsWith(prefix));
  return replies.map((event) => ({ from: event.ts - Number(event.payload['ms']) + 1, to: event.ts }));
}

const overlapping = (list: { from: number; to: number }[]) =>
  Math.max(...list.map((one) => list.filter((other) => other.from <= one.from && one.from < other.to).length));

test('50 concurrent turns in 50 conversations are all answered, never more at once than there are slots', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => turn(`compat:c:many-${i}`, `wait 0.02 ${i}`)));
  expect(answers.map((answer) => answer.body.actions[0]?.text)).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
  await expect.poll(() => runs('compat:c:many-')).toHaveLength(50);
  expect(overlapping(await runs('compat:c:many-'))).toBeLessThanOrEqual(slots);
});

test('50 concurrent turns in one conversation run one at a time and in order', async () => {
  const order: number[] = [];
  await Promise.all(Array.from({ length: 50 }, (_, i) => turn('compat:c:one', `wait 0.005 ${i}`).then(() => order.push(i))));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  await expect.poll(() => runs('compat:c:one')).toHaveLength(50);
  expect(overlapping(await runs('compat:c:one'))).toBe(1);
});
