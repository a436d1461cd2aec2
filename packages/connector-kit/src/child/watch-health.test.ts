import { expect, test } from 'vitest';
import type { ChildMessage } from '../child-protocol.ts';
import { watchHealth } from './watch-health.ts';

type Health = { healthy: boolean; detail?: string };

function watched(first: Health | Error) {
  let health = first;
  const sent: ChildMessage[] = [];
  const ticks: { ms: number; work: () => void }[] = [];
  const clock = {
    every: (ms: number, work: () => void) => {
      const tick = { ms, work };
      ticks.push(tick);
      return () => void ticks.splice(ticks.indexOf(tick), 1);
    },
  };
  const running = {
    health: () => {
      if (health instanceof Error) throw health;
      return health;
    },
  };
  const log = Object.assign(() => undefined, { bind: () => undefined });
  const parent = { send: (message: ChildMessage) => void sent.push(message) };
  const stop = watchHealth({ parent, log, clock, heartbeatMs: 30_000 }, running);
  return {
    take: () => sent.splice(0),
    /** The messages sent after this change of health, well before a heartbeat is due. */
    become(next: Health | Error) {
      health = next;
      ticks.find(({ ms }) => ms < 5_000)?.work();
      return sent.splice(0);
    },
    timers: () => ticks.length,
    stop,
  };
}

const well = { healthy: true };

test('sends a heartbeat at once, reports a problem once, and reports recovery', () => {
  const channel = watched(well);
  expect(channel.take()).toEqual([{ type: 'heartbeat' }]);
  expect(channel.become(well)).toEqual([]);
  expect(channel.become({ healthy: false, detail: 'no keys' })).toEqual([{ type: 'problem', text: 'no keys' }]);
  expect(channel.become({ healthy: false, detail: 'no keys' })).toEqual([]);
  expect(channel.become({ healthy: false, detail: 'x'.repeat(5_000) })[0]).toMatchObject({
    text: expect.stringMatching(/^x{900}/),
  });
  expect(channel.become(well)).toEqual([{ type: 'problem', text: null }, { type: 'heartbeat' }]);
  channel.stop();
  expect(channel.timers()).toBe(0);
});

test('reports a health check that throws, or gives no reason, as a problem', () => {
  const channel = watched(new Error('boom'));
  expect(channel.take()).toEqual([{ type: 'problem', text: 'its health check failed: boom' }]);
  expect(channel.become({ healthy: false, detail: '' })).toEqual([{ type: 'problem', text: 'it gave no reason' }]);
});
