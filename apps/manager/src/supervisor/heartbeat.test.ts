import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import { createHeartbeatMonitor } from './heartbeat.ts';

function setUp() {
  const clock = createFakeClock();
  const reported: string[] = [];
  const monitor = createHeartbeatMonitor(clock, 1000, ({ heartbeat }) => reported.push(heartbeat));
  return { clock, reported, monitor };
}

test('the heartbeat is unknown until the first beat', () => {
  const { clock, reported, monitor } = setUp();
  clock.advance(1_000_000);
  expect(monitor.read()).toEqual({ heartbeat: 'unknown', last_heartbeat_at: null });
  monitor.beat();
  expect(monitor.read()).toEqual({ heartbeat: 'fresh', last_heartbeat_at: clock.now() });
  expect(reported).toEqual([]);
});

test('the heartbeat is stale after the limit, which is reported once', () => {
  const { clock, reported, monitor } = setUp();
  monitor.beat();
  clock.advance(1000);
  expect(monitor.read().heartbeat).toBe('fresh');
  clock.advance(3);
  expect(monitor.read().heartbeat).toBe('stale');
  clock.advance(100_000);
  expect(reported).toEqual(['stale']);
});

test('the heartbeat is fresh again with the next beat', () => {
  const { clock, reported, monitor } = setUp();
  monitor.beat();
  clock.advance(5000);
  monitor.beat();
  expect(monitor.read().heartbeat).toBe('fresh');
  clock.advance(900);
  monitor.beat();
  clock.advance(900);
  expect(reported).toEqual(['stale', 'fresh']);
});

test('the heartbeat is not reported as stale by an early timer', () => {
  const clock = createFakeClock();
  const reported: string[] = [];
  const early = { ...clock, after: (ms: number, fn: () => void) => clock.after(Math.max(1, ms - 2), fn) };
  createHeartbeatMonitor(early, 1000, ({ heartbeat }) => reported.push(heartbeat)).beat();
  clock.advance(999);
  expect(reported).toEqual([]);
  clock.advance(5);
  expect(reported).toEqual(['stale']);
});

test('the heartbeat is unknown again for a new process', () => {
  const { clock, reported, monitor } = setUp();
  monitor.beat();
  monitor.reset();
  clock.advance(5000);
  expect(monitor.read().heartbeat).toBe('unknown');
  expect(reported).toEqual([]);
});

test('the heartbeat is stale in time when the clock is set back, without extra timers', () => {
  const clock = createFakeClock();
  const reported: string[] = [];
  let [setBackMs, timers] = [0, 0];
  const moved = {
    ...clock,
    now: () => clock.now() - setBackMs,
    after: (ms: number, fn: () => void) => (timers++, clock.after(ms, fn)),
  };
  const monitor = createHeartbeatMonitor(moved, 1000, ({ heartbeat }) => reported.push(heartbeat));
  monitor.beat();
  setBackMs = 3_600_000;
  clock.advance(2000);
  expect(monitor.read().heartbeat).toBe('stale');
  monitor.beat();
  expect([reported, timers]).toEqual([['stale', 'fresh'], 2]);
});
