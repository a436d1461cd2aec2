import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createChatGate, type ChatGateOptions } from './chat-gate.ts';

const busy = (seconds: number, global = false) =>
  new ServiceError('busy', 'too fast', { details: { retry_after_s: seconds, ...(global && { global }) } });

function setUp(options: Partial<ChatGateOptions> = {}) {
  const clock = createFakeClock();
  const gate = createChatGate({ clock, perMs: 1000, ...options });
  const went: string[] = [];
  const write =
    (name: string, error?: Error, ms = 0) =>
    async () => {
      went.push(`${name} ${clock.elapsed()}`);
      if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
      if (error !== undefined) throw error;
    };
  /** Advances in steps of 50 ms. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 50) {
      for (let turn = 0; turn < 4; turn++) await nextTurn();
      clock.advance(Math.min(50, left));
    }
    await nextTurn();
  };
  return { clock, gate, went, write, pass };
}

describe('chat gate', () => {
  test('counts possible writes of a previous process where the platform does', async () => {
    const { gate, went, write, pass } = setUp({ followsAnother: true });
    void gate.run('a', write('a1'));
    expect(await gate.offer('b', write('b1'))).toBe(false);
    await pass(1500);
    void gate.run('b', write('b2'));
    await pass(100);
    expect(went).toEqual(['a1 1000', 'b2 1500']);
  });

  test('keeps the interval between the end of a write and the next one, per chat', async () => {
    const { gate, went, write, pass } = setUp();
    void gate.run('a', write('a1', undefined, 200));
    void gate.run('a', write('a2'));
    void gate.run('b', write('b1'));
    await pass(3000);
    expect(went).toEqual(['a1 0', 'b1 0', 'a2 1200']);
  });

  test('lets urgent writes go first, as many at once as the burst allows', async () => {
    const { gate, went, write, pass } = setUp({ burst: 3 });
    void gate.run('a', write('edit'));
    void gate.run('a', write('edit 2'));
    void gate.run('a', write('part 1'), { urgent: true });
    void gate.run('a', write('part 2'), { urgent: true });
    void gate.run('a', write('part 3'), { urgent: true });
    await pass(6000);
    expect(went).toEqual(['edit 0', 'part 1 0', 'part 2 0', 'part 3 1000', 'edit 2 4000']);
  });

  test('uses the interval of the kind of chat', async () => {
    const { gate, went, write, pass } = setUp({ perMs: (chat) => (chat === 'group' ? 3000 : 1000) });
    for (const chat of ['group', 'ann']) for (const n of [1, 2, 3]) void gate.run(chat, write(`${chat} ${n}`));
    await pass(7000);
    expect(went).toEqual(['group 1 0', 'ann 1 0', 'ann 2 1000', 'ann 3 2000', 'group 2 3000', 'group 3 6000']);
  });

  test('counts a write of several messages as several, also toward the limit of the bot', async () => {
    const { gate, went, write, pass } = setUp({ allMs: 100 });
    void gate.run('a', write('album'), { writes: 5, urgent: true });
    void gate.run('a', write('a2'), { urgent: true });
    await pass(50);
    void gate.run('b', write('b1'));
    await pass(6000);
    expect(went).toEqual(['album 0', 'b1 500', 'a2 5000']);
  });

  test('a slowed chat waits for further messages of a write at the usual pace only', async () => {
    const { gate, went, write, pass } = setUp();
    await gate.run('a', write('x', busy(1))).catch(() => undefined);
    void gate.run('a', write('album'), { writes: 10 });
    void gate.run('a', write('a2'));
    await pass(20_000);
    expect(went).toEqual(['x 0', 'album 2000', 'a2 13000']);
  });

  test('keeps the interval of the bot across chats', async () => {
    const { gate, went, write, pass } = setUp({ allMs: 300 });
    for (const chat of ['a', 'b', 'c']) void gate.run(chat, write(chat));
    await pass(1000);
    expect(went).toEqual(['a 0', 'b 300', 'c 600']);
  });

  test('pauses as long as the platform says, then runs at half speed until writes succeed for a while', async () => {
    const { gate, went, write, pass } = setUp();
    const refused = gate.run('a', write('x', busy(30))).catch((error: Error) => error.message);
    await pass(100);
    expect([await refused, gate.pausedMs('a')]).toEqual(['too fast', 29_900]);
    for (let n = 0; n < 12; n++) void gate.run('a', write('y'));
    await pass(60_000);
    const at = went.map((each) => Number(each.split(' ')[1]));
    expect([at[1], at[2], at[3]]).toEqual([30_000, 32_000, 34_000]);
    expect([at[11], at[12]]).toEqual([49_000, 50_000].map((ms) => ms + 0));
  });

  test('returns to full speed in about the time that it was slow', async () => {
    const { gate, went, write, pass } = setUp();
    for (let n = 0; n < 4; n++) void gate.run('a', write('x', busy(1))).catch(() => undefined);
    await pass(40_000);
    for (let n = 0; n < 40; n++) void gate.run('a', write('y'));
    await pass(120_000);
    const at = went.map((each) => Number(each.split(' ')[1]));
    expect(at.at(-1)! - at.at(-2)!).toBe(1000);
  });

  test('does not slow down after a write that was cut off or a platform that was unreachable', async () => {
    const { gate, went, write, pass } = setUp();
    const cut = () => gate.run('a', write('cut', new Error('no answer'))).catch(() => undefined);
    const outage = new ServiceError('busy', 'unreachable', { details: { retry_after_s: 2, keeps_pace: true } });
    for (let n = 0; n < 3; n++) await Promise.all([gate.run('a', write('x', outage)).catch(() => undefined), pass(2000)]);
    for (let n = 0; n < 3; n++) void cut();
    await pass(4000);
    expect(went).toEqual(['x 0', 'x 2000', 'x 4000', 'cut 6000', 'cut 7000', 'cut 8000']);
    await gate.run('a', write('y', busy(1))).catch(() => undefined);
    await pass(2000);
    for (let n = 0; n < 12; n++) void (n === 5 ? cut() : gate.run('a', write('z')));
    await pass(30_000);
    const at = went.map((each) => Number(each.split(' ')[1]));
    expect(at.at(-1)! - at.at(-2)!).toBe(1000);
  });

  test('pauses all chats when the platform says so', async () => {
    const { gate, went, write, pass } = setUp();
    await gate.run('a', write('a', busy(5, true))).catch(() => undefined);
    void gate.run('b', write('b'));
    await pass(6000);
    expect(went).toEqual(['a 0', 'b 5000']);
  });

  test('rejects at once when the wait would be too long, and a wait can be aborted', async () => {
    const { gate, went, write, pass } = setUp();
    await gate.run('a', write('a', busy(30))).catch(() => undefined);
    await expect(gate.run('a', write('b'), { withinMs: 10_000 })).rejects.toMatchObject({
      code: 'busy',
      details: { retry_after_s: 30 },
    });
    const stop = new AbortController();
    const waiting = gate.run('a', write('c'), { signal: stop.signal }).catch((error: Error) => error.message);
    stop.abort(new Error('enough'));
    expect(await waiting).toBe('enough');
    await pass(40_000);
    expect(went).toEqual(['a 0']);
  });

  test('offer() writes only what can go at once', async () => {
    const { gate, went, write, pass } = setUp();
    expect(await gate.offer('a', write('typing'))).toBe(true);
    expect(await gate.offer('a', write('typing'))).toBe(false);
    await pass(1000);
    expect(await gate.offer('a', write('typing'))).toBe(true);
    expect(went).toEqual(['typing 0', 'typing 1000']);
  });

  test('limits the number of chats and of waiting writes', async () => {
    const { gate, write, pass } = setUp({ maxChats: 3 });
    for (const chat of ['a', 'b', 'c']) await gate.run(chat, write(chat));
    await expect(gate.run('d', write('d'))).rejects.toMatchObject({ code: 'queue_full' });
    await pass(1000);
    await gate.run('d', write('d'));
    for (let n = 0; n < 100; n++) void gate.run('d', write('d')).catch(() => undefined);
    await expect(gate.run('d', write('d'))).rejects.toMatchObject({ code: 'queue_full' });
  });
});

type Ask = { chat: string; afterMs: number; tookMs: number; urgent: boolean; isBusy: boolean; cutMs: number | null };
const ask: fc.Arbitrary<Ask> = fc.record({
  chat: fc.constantFrom('a', 'b', 'c'),
  afterMs: fc.constantFrom(0, 0, 50, 700, 3000),
  tookMs: fc.constantFrom(0, 50, 900),
  urgent: fc.boolean(),
  isBusy: fc.constantFrom(true, false, false, false, false),
  cutMs: fc.constantFrom(null, null, null, 0, 500),
});

test('never writes faster than allowed or in a pause, and each write goes once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(ask, { maxLength: 30 }), async (asks) => {
      const { clock, gate, pass } = setUp({ allMs: 100 });
      const faults: string[] = [];
      const lanes = new Map<string, { isWriting: boolean; endedAt: number; closedUntil: number }>();
      let lastAt = -100;
      const settled: Promise<unknown>[] = [];
      let went = 0;
      for (const { chat, afterMs, tookMs, urgent, isBusy, cutMs } of asks) {
        if (afterMs > 0) await pass(afterMs);
        const signal = new AbortController();
        const write = async () => {
          went++;
          const lane = lanes.get(chat) ?? { isWriting: false, endedAt: -1000, closedUntil: 0 };
          lanes.set(chat, lane);
          const now = clock.elapsed();
          if (lane.isWriting) faults.push(`${chat} twice at ${now}`);
          if (now - lane.endedAt < 1000 || now - lastAt < 100) faults.push(`${chat} too fast at ${now}`);
          if (now < lane.closedUntil) faults.push(`${chat} in a pause at ${now}`);
          [lane.isWriting, lastAt] = [true, now];
          if (tookMs > 0) await new Promise<void>((resolve) => void clock.after(tookMs, resolve));
          [lane.isWriting, lane.endedAt] = [false, clock.elapsed()];
          if (!isBusy) return;
          lane.closedUntil = clock.elapsed() + 5000;
          throw busy(5);
        };
        settled.push(
          gate.run(chat, write, { urgent, signal: signal.signal }).then(
            () => 'went',
            (error: Error) => error.message,
          ),
        );
        if (cutMs !== null) clock.after(cutMs, () => signal.abort(new Error('cut')));
      }
      let open = true;
      const all = Promise.all(settled).finally(() => (open = false));
      for (let n = 0; open && n < 400; n++) await pass(1000);
      const ends = open ? ['stuck'] : await all;
      expect([faults, ends.includes('stuck')]).toEqual([[], false]);
      expect(ends.filter((end) => end !== 'cut')).toHaveLength(went);
    }),
    { numRuns: 40 },
  );
}, 60_000);
