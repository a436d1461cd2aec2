import { fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSessionRecord } from './session-record.ts';

const session = (sequence: number) => ({ sessionId: 's1', resumeURL: 'wss://gateway', sequence, shardId: 0, shardCount: 1 });

/** Session records of consecutive processes; a killed process has written what `flush` waits for, and nothing later. */
function setUp() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const clock = createFakeClock();
  const { context } = fakeContext({ type: 'chatroom', dataDir: folder.path, config: {} });
  const open = (botId = 'b1') => openSessionRecord({ ...context, clock, botId });
  /** Waits for the writes under way. */
  const settle = () => context.state.list('');
  return { clock, open, settle };
}

describe('gateway session record', () => {
  test('lets the next process resume from the start, even before any event', async () => {
    const { open, settle, clock } = setUp();
    const first = await open();
    first.change(session(1));
    first.begin();
    await settle();
    const next = await open();
    expect([next.current(), next.lastAt(), next.behindSince()]).toEqual([session(1), clock.now(), null]);
  });

  test('is kept with the time since when messages are missed, until they have been read', async () => {
    const { open, clock } = setUp();
    const first = await open();
    first.change(session(1));
    first.begin();
    const began = clock.now();
    clock.advance(60_000);
    first.behind();
    first.passed({ sessionId: '', sequence: 0, at: clock.now() });
    clock.advance(1000);
    first.behind();
    await first.flush();
    const next = await open();
    expect([next.current()?.sessionId, next.behindSince()]).toEqual(['s1', began]);
    next.caughtUp();
    await next.flush();
    expect((await open()).behindSince()).toBeNull();
  });

  test('clamps a time in the future, from a clock that was ahead, to the present', async () => {
    const { open, clock } = setUp();
    const first = await open();
    clock.setBack(-3_600_000);
    first.begin();
    await first.flush();
    clock.setBack(3_600_000);
    const next = await open();
    const began = clock.now();
    next.behind();
    expect(next.behindSince()).toBe(began);
    clock.setBack(60_000);
    expect(next.behindSince()).toBe(began - 60_000);
  });

  test('resumes after the last safe event', async () => {
    const { open } = setUp();
    const first = await open();
    first.change(session(1));
    first.passed({ sessionId: 's1', sequence: 5, at: 10 });
    first.change(session(9));
    first.passed({ sessionId: 'another', sequence: 8, at: 20 });
    await first.flush();
    expect((await open()).current()).toEqual(session(5));
  });

  test('belongs to one bot', async () => {
    const { open } = setUp();
    const first = await open();
    first.change(session(1));
    await first.flush();
    expect((await open('b2')).current()).toBeNull();
  });
});
