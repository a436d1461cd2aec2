import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { AppServer } from './app-server.ts';
import { RpcError } from './json-rpc.ts';
import { createListeners } from './listeners.ts';
import { runTurn, type TurnOutcome } from './run-turn.ts';
import { createFakeAppServer } from './testing/fake-app-server.ts';
import type { Threads } from './threads.ts';

describe('turn on a warm app-server that fails', () => {
  const request = engineRequest({ prompt: 'hi', cwd: '/' });
  const thread = { id: 'thread-1', model: 'm', resumed: true, isLoaded: true, used: null };

  /** Answers what `answers` contains, and hangs otherwise. */
  function openWarm(answers: Parameters<typeof createFakeAppServer>[0] = {}) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const listeners = createListeners(() => undefined);
    const asked: string[] = [];
    const { server, fall } = createFakeAppServer(answers, listeners.add);
    void server.ended.then(({ reason }) => listeners.end(reason));
    const spied: AppServer = {
      ...server,
      request: (method, params) => (asked.push(method), server.request(method, params)),
      async kill() {
        void server.kill();
        fall();
      },
    };
    const threads: Omit<Threads, 'remove'> = {
      open: () => Promise.resolve(thread),
      keep: () => undefined,
      release: () => Promise.resolve(),
      giveUp: () => Promise.resolve(true),
    };
    const run = (over: Partial<Threads> = {}) =>
      end(
        runTurn(
          { server: spied, threads: { ...threads, ...over }, isWarm: true, endStarted: () => Promise.resolve() },
          request,
          {},
          new AbortController().signal,
        ),
      );
    const say = (method: string, params: object) => listeners.notify({ method, params: { threadId: 'thread-1', ...params } });
    return { run, server: spied, fall, asked, say };
  }

  /** The outcome of the turn. */
  async function end(events: AsyncGenerator<EngineEvent, TurnOutcome>): Promise<TurnOutcome | EngineEvent | undefined> {
    let last: EngineEvent | undefined;
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value === 'finished' ? last : next.value;
      last = next.value;
    }
  }
  const alive = { 'thread/loaded/list': () => ({ data: [] }) };
  const started = { ...alive, 'turn/start': () => ({ turn: { id: 'turn-1' } }) };

  test('moves to another one if it fails while the thread is opened', async () => {
    const { run, asked } = openWarm();
    const outcome = run({ open: () => new Promise(() => undefined) });
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBe('server_gone');
    expect(asked).not.toContain('turn/start');
  });

  test('moves to another one, without sending the turn, if it stops after the thread was opened', async () => {
    const { run, server, asked } = openWarm(started);
    const open = () => (void server.stop(), Promise.resolve(thread));
    expect(await run({ open })).toBe('server_gone');
    expect(asked).not.toContain('turn/start');
  });

  test.each([
    ['hangs', (_fall: () => void) => undefined],
    ['dies', (fall: () => void) => fall()],
  ])('moves to another one if it %s before any message about the turn', async (_how, happen) => {
    const { run, fall, asked } = openWarm();
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    happen(fall);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBe('server_gone');
  });

  test('fails, and is not run twice, if it ends after a message about the turn', async () => {
    const { run, fall, asked, say } = openWarm();
    const outcome = run();
    const failing = expect(outcome).rejects.toThrow('ended with SIGKILL');
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    say('turn/started', { turn: { id: 'turn-1' } });
    fall();
    await failing;
  });

  test('fails if it ends after it has accepted the turn', async () => {
    const { run, fall, asked } = openWarm(started);
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    fall();
    expect(await outcome).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed', retryable: true } });
  });

  test('ignores an unanswered liveness check once the turn is under way', async () => {
    const { run, asked, say, server } = openWarm({ 'turn/start': () => ({ turn: { id: 'turn-1' } }) });
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.ending.aborted).toBe(false);
    say('turn/completed', { turn: { status: 'completed', error: null } });
    expect(await outcome).toEqual({ type: 'done' });
  });

  test('keeps the app-server after a refusal', async () => {
    const refuse = () => Promise.reject(new RpcError('turn/start', { code: -1, message: 'no such model' }));
    const { run, server } = openWarm({ ...alive, 'turn/start': refuse });
    await expect(run()).rejects.toThrow('no such model');
    expect(server.ending.aborted).toBe(false);
  });
});
