import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { createLiveReaders } from '@svc/service-kit/feed/live-readers.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createEngineFallback } from '../src/engine/fallback.ts';
import { createSiloKeys } from '../src/silo/silo-keys.ts';
import type { SiloRow } from '../src/silo/silo-store.ts';
import { createCircuitBreaker } from '../src/tool-server/circuit-breaker.ts';
import { createMessageBatches } from '../src/turn/message-batches.ts';
import { runEngine } from '../src/turn/run-engine.ts';
import { openTestOutbox } from './open-test-outbox.ts';

const hour = 3_600_000;

/** The time of day jumps here: waits and durations must stay the same. */
describe.each([
  ['back', 5 * hour],
  ['forward', -5 * hour],
])('with the clock set %s by hours', (_way, backMs) => {
  const away = { delivered: false, permanent: false, error: 'away' } as const;
  const reply = { turn_id: 't', turn_seq: 1, conversation_key: 'k', text: 'hi', injected: false, error: null };

  test('a waiting reply is retried on time and fails after a day', async () => {
    const clock = createFakeClock();
    let tries = 0;
    const outbox = openTestOutbox(async () => (tries++, away), clock);
    await outbox.push({ ...reply, route: { instance_id: 'c', target: 'room' } });
    await expect.poll(() => tries).toBe(1);
    for (let n = 0; n < 5; n++) await nextTurn();
    clock.setBack(5 * backMs);
    clock.advance(999);
    for (let n = 0; n < 5; n++) await nextTurn();
    expect(tries).toBe(1);
    clock.advance(1);
    await expect.poll(() => tries).toBe(2);
    for (let n = 0; n < 5; n++) await nextTurn();
    expect(outbox.counts()).toEqual({ pending: 1, failed: 0 });
    clock.advance(24 * hour);
    await expect.poll(() => outbox.counts()).toEqual({ pending: 0, failed: 1 });
    outbox.close();
  });

  test('a turn still has its full time limit', async () => {
    const clock = createFakeClock();
    const bounds = { signal: new AbortController().signal, idleMs: 400, maxMs: 1000, graceMs: 10, output: sideOutput, clock };
    const say = Promise.withResolvers<void>();
    let isOver = false;
    const engine = {
      async *run() {
        for (;;) {
          yield { type: 'delta', text: '.' } as const;
          await Promise.race([say.promise, new Promise((resolve) => clock.after(90, () => resolve(null)))]);
        }
      },
    };
    const running = runEngine(engine, {} as EngineRequest, bounds, () => undefined).finally(() => (isOver = true));
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        clock.advance(10);
        await nextTurn();
      }
    };
    await pass(200);
    clock.setBack(backMs);
    await pass(700);
    expect(isOver).toBe(false);
    await pass(250);
    expect(await running).toMatchObject({ type: 'failed', failure: { code: 'turn_too_long' } });
    say.resolve();
  });

  test('a message sent in pieces waits no longer than its limit', async () => {
    const clock = createFakeClock();
    const entered: string[] = [];
    const enter = (key: string) => {
      entered.push(key);
      throw new Error('that is enough for this test');
    };
    const batches = createMessageBatches({ clock, turnQueue: { enter } } as never);
    const live = () => {
      const envelope = { conversation_key: 'k', intake: { debounce_ms: 1000 }, content: {}, sender: {}, channel: 'cli' };
      return { turn: { envelope }, sink: () => undefined } as never;
    };
    const identity = { tool_servers: '*' } as never;
    const add = () => batches.add(live(), identity).catch(() => undefined);
    void add();
    clock.setBack(backMs);
    for (let n = 0; n < 5; n++) {
      clock.advance(900);
      expect(entered).toEqual([]);
      void add();
    }
    clock.advance(500);
    expect(entered).toEqual(['k']);
  });

  test('consecutive events are still batched and sent promptly', async () => {
    const clock = createFakeClock();
    const live = createLiveReaders<string>((text) => text, clock);
    let sent = 0;
    live.add({ sendShared: () => sent++, signal: new AbortController().signal } as never);
    live.publish('a');
    await Promise.resolve();
    clock.setBack(backMs);
    live.publish('b');
    await Promise.resolve();
    expect(sent).toBe(1);
    clock.advance(10);
    expect(sent).toBe(2);
  });

  test('an engine and a tool server are paused for the intended time', () => {
    const clock = createFakeClock();
    const fallback = createEngineFallback(['codex'], clock);
    const breaker = createCircuitBreaker(clock);
    fallback.failed('claude', { code: 'engine_rate_limited', message: 'Full.', retryable: true, retryAfterMs: 60_000 });
    breaker.missed('slow', 10_000);
    clock.setBack(backMs);
    expect(fallback.order('claude').ids).toEqual(['codex']);
    expect(breaker.reason('slow')).toContain('again in 60 s');
    clock.advance(60_000);
    expect(fallback.order('claude').ids).toEqual(['claude', 'codex']);
    expect(breaker.reason('slow')).toBeNull();
  });

  test('the key of a silo stays cached, and no longer than intended', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const vault = { unwrapSiloKey: async () => (asked++, Buffer.alloc(32)) };
    const keys = createSiloKeys({ vault, store: {}, clock } as never);
    const silo = { id: 's', wrapped_key: Buffer.alloc(1) } as unknown as SiloRow;
    await keys.keyFor(silo);
    clock.setBack(backMs);
    await keys.keyFor(silo);
    expect(asked).toBe(1);
    clock.advance(hour);
    await keys.keyFor(silo);
    expect(asked).toBe(2);
  });
});
