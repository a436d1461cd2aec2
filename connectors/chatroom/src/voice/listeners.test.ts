import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createListeners } from './listeners.ts';
import { silence, voice } from './testing/sounds.ts';

function open(maxSpeakers?: number) {
  const clock = createFakeClock();
  const events: string[] = [];
  const listeners = createListeners({
    after: clock.after,
    onBegin: (user) => events.push(`${user} begins`),
    onUtterance: (user) => events.push(`${user} said`),
    maxSpeakers,
  });
  return { clock, events, listeners };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const isDone = async (promise: Promise<unknown>) => {
  let done = false;
  void promise.then(() => (done = true));
  await settled();
  return done;
};

test('hears each person separately, also at the same time', () => {
  const { events, listeners } = open();
  const [ann, ben] = [listeners.listen('ann'), listeners.listen('ben')];
  for (let n = 0; n < 20; n++) {
    ann?.push(voice(1)[0] as Buffer);
    ben?.push((n < 10 ? silence(1) : voice(1))[0] as Buffer);
  }
  ann?.end();
  ben?.end();
  expect(events).toEqual(['ann begins', 'ben begins', 'ann said', 'ben said']);
});

test('limits the number of people it listens to, and one who has ended makes room', () => {
  const { listeners } = open(2);
  const ann = listeners.listen('ann');
  expect(listeners.listen('ann')).toBe(ann);
  expect([listeners.listen('ben'), listeners.listen('eve')].map((ear) => ear === null)).toEqual([false, true]);
  ann?.end();
  expect(listeners.listen('eve')).not.toBeNull();
});

test('quiet() resolves when the last speaker has ended, or after a timeout', async () => {
  const { clock, listeners } = open();
  expect(await isDone(listeners.quiet())).toBe(true);
  const ann = listeners.listen('ann');
  ann?.push(Buffer.concat(voice(10)));
  const [quiet, later] = [listeners.quiet(), listeners.quiet()];
  expect(await isDone(quiet)).toBe(false);
  ann?.end();
  expect(await isDone(quiet)).toBe(true);
  expect(await isDone(later)).toBe(true);
  listeners.listen('ann')?.push(Buffer.concat(voice(10)));
  const late = listeners.quiet();
  expect(await isDone(late)).toBe(false);
  clock.advance(8000);
  expect(await isDone(late)).toBe(true);
});
