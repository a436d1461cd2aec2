import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createSlots } from './slots.ts';

const open = (over: object = {}) => {
  const clock = createFakeClock();
  return { clock, slots: createSlots({ slots: 2, maxWaiting: 2, waitMs: 1000, what: 'clips', ...over }, clock) };
};
const never = new AbortController().signal;

test('slots limit what runs at once, and a freed slot goes to the next in line', async () => {
  const { slots } = open();
  const free = await slots.take(never);
  await slots.take(never);
  const order: string[] = [];
  const third = slots.take(never).then((freeThird) => {
    order.push('third');
    return freeThird;
  });
  const fourth = slots.take(never).then(() => order.push('fourth'));
  free();
  free();
  const freeThird = await third;
  expect(order).toEqual(['third']);
  freeThird();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
});

test('rejects at once when the line is full', async () => {
  const { slots } = open({ slots: 1, maxWaiting: 1 });
  await slots.take(never);
  void slots.take(never);
  await expect(slots.take(never)).rejects.toMatchObject({ code: 'queue_full', status: 429, details: { retry_after_s: 5 } });
});

test('waiting times out, and an aborted caller loses its place', async () => {
  const { clock, slots } = open({ slots: 1, maxWaiting: 2 });
  const free = await slots.take(never);
  const late = slots.take(never);
  const leaver = new AbortController();
  const left = slots.take(leaver.signal);
  leaver.abort();
  await expect(left).rejects.toMatchObject({ code: 'bad_request' });
  clock.advance(1000);
  await expect(late).rejects.toMatchObject({ code: 'queue_full' });
  free();
  await expect(slots.take(never)).resolves.toBeTypeOf('function');
});
