import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { AppServer } from './app-server.ts';
import { RpcError } from './json-rpc.ts';
import { createListeners } from './listeners.ts';
import { runTurn, type TurnOutcome } from './run-turn.ts';
import { createFakeAppServer } from './testing/fake-app-server.ts';
import type { Threads } from './threads.ts';

describe('a turn on an app-server that was open already and goes away', () => {
  const request = engineRequest({ prompt: 'hi', cwd: '/' });
  const thread = { id: 'thread-1', model: 'm', resumed: true, isLoaded: true, used: null };

  /** It answers what `answers` holds and hangs in all else. */
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

  /** How it ended. */
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

  test('while its thread is opened: another one takes the turn', async () => {
    const { run, asked } = openWarm();
    const outcome = run({ open: () => new Promise(() => undefined) });
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBe('server_gone');
    expect(asked).not.toContain('turn/start');
  });

  test('after its thread was opened: nothing is sent to it any more, and another one takes the turn', async () => {
    const { run, server, asked } = openWarm(started);
    const open = () => (void server.stop(), Promise.resolve(thread));
    expect(await run({ open })).toBe('server_gone');
    expect(asked).not.toContain('turn/start');
  });

  test.each([
    ['hangs', (_fall: () => void) => undefined],
    ['dies', (fall: () => void) => fall()],
  ])('it %s before it says a word about the turn: another one takes it', async (_how, happen) => {
    const { run, fall, asked } = openWarm();
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    happen(fall);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBe('server_gone');
  });

  test('it dies after it said a word about the turn, even if not in answer: the turn is not run twice', async () => {
    const { run, fall, asked, say } = openWarm();
    const outcome = run();
    const failing = expect(outcome).rejects.toThrow('ended with SIGKILL');
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    say('turn/started', { turn: { id: 'turn-1' } });
    fall();
    await failing;
  });

  test('it dies after it took the turn: the turn fails', async () => {
    const { run, fall, asked } = openWarm(started);
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    fall();
    expect(await outcome).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed', retryable: true } });
  });

  test('what it was asked beside the opening of the thread is of no matter once the turn goes on', async () => {
    const { run, asked, say, server } = openWarm({ 'turn/start': () => ({ turn: { id: 'turn-1' } }) });
    const outcome = run();
    await expect.poll(() => asked.includes('turn/start')).toBe(true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.ending.aborted).toBe(false);
    say('turn/completed', { turn: { status: 'completed', error: null } });
    expect(await outcome).toEqual({ type: 'done' });
  });

  test('a refusal is an answer: it stays', async () => {
    const refuse = () => Promise.reject(new RpcError('turn/start', { code: -1, message: 'no such model' }));
    const { run, server } = openWarm({ ...alive, 'turn/start': refuse });
    await expect(run()).rejects.toThrow('no such model');
    expect(server.ending.aborted).toBe(false);
  });
});
