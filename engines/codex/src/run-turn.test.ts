import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { AppServer } from './app-server.ts';
import { RpcError } from './json-rpc.ts';
import { createListeners } from './listeners.ts';
import { runTurn, type TurnOutcome } from './run-turn.ts';
import { createFakeAppServer } from './testing/fake-app-server.ts';
import type { Threads } from './threads.ts';
import { noCounts } from './turn-usage.ts';

/** An app-server that does nothing of its own. */
function open(over: Partial<Threads> = {}) {
  const listeners = createListeners(() => undefined);
  const asked: string[] = [];
  const server: AppServer = {
    request: <Result>(method: string) => {
      asked.push(method);
      return Promise.resolve({ turn: { id: 'turn-1' } } as Result);
    },
    pid: undefined,
    ended: new Promise(() => undefined),
    ending: new AbortController().signal,
    stop: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    endOrphans: () => Promise.resolve(),
    subscribe: listeners.add,
  };
  const threads: Threads = {
    open: () => Promise.resolve({ id: 'thread-1', model: 'm', resumed: false, isLoaded: false, used: null }),
    keep: () => undefined,
    release: () => Promise.resolve(),
    ...over,
  };
  const controller = new AbortController();
  const request = engineRequest({ prompt: 'hi', cwd: '/' });
  const run = (signal: AbortSignal) =>
    runTurn({ server, threads, isWarm: false, endStarted: () => Promise.resolve() }, request, {}, signal);
  const say = (method: string, params: object) => listeners.tell({ method, params: { threadId: 'thread-1', ...params } });
  return { run, events: run(controller.signal), listeners, asked, say, controller };
}

async function collect(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test('a turn that is over leaves no listener and asks for nothing more', async () => {
  const { run, listeners, asked, say, controller } = open();
  const all = collect(guardEvents(run, controller.signal));
  await expect.poll(() => asked).toEqual(['turn/start']);
  say('item/agentMessage/delta', { delta: 'hello' });
  say('turn/completed', { turn: { status: 'completed', error: null } });
  expect((await all).at(-1)).toEqual({ type: 'done' });
  expect(listeners.size).toBe(0);
  controller.abort();
  expect(asked).toEqual(['turn/start']);
});

test('what a thread has used is not charged to the next turn, although codex says it with the answer that opens the thread', async () => {
  const counts = (inputTokens: number) => ({ ...noCounts, inputTokens });
  const tell = (total: number, last: number) =>
    turn.say('thread/tokenUsage/updated', { tokenUsage: { total: counts(total), last: counts(last) } });
  const opened = { id: 'thread-1', model: 'm', resumed: true, isLoaded: false, used: null };
  const turn = open({ open: () => Promise.resolve().then(() => (tell(1000, 0), opened)) });
  const all = collect(turn.events);
  await expect.poll(() => turn.asked).toEqual(['turn/start']);
  turn.say('turn/started', {});
  tell(1030, 0); // as codex says it of a compaction
  turn.say('turn/completed', { turn: { status: 'completed', error: null } });
  expect((await all).at(-2)).toMatchObject({ type: 'usage', usage: { input_tokens: 30 } });
});

test('a turn that is aborted is interrupted', async () => {
  const { run, asked, say, controller } = open();
  const all = collect(guardEvents(run, controller.signal));
  await expect.poll(() => asked).toEqual(['turn/start']);
  controller.abort();
  await expect.poll(() => asked).toEqual(['turn/start', 'turn/interrupt']);
  say('turn/completed', { turn: { status: 'interrupted', error: null } });
  expect((await all).at(-1)).toEqual({ type: 'aborted' });
});

test('a turn that does not heed its interrupt ends all the same, and loses its thread', async () => {
  const released: string[] = [];
  const release = (id: string) => Promise.resolve(void released.push(id));
  const { run, listeners, asked, controller } = open({ release });
  const all = collect(guardEvents(run, controller.signal));
  await expect.poll(() => asked).toEqual(['turn/start']);
  controller.abort();
  await expect.poll(() => released).toContain('thread-1');
  expect((await all).slice(-2)).toMatchObject([{ type: 'usage' }, { type: 'aborted' }]);
  expect(listeners.size).toBe(0);
});

test('a thread that cannot be opened leaves no listener', async () => {
  const { events, listeners } = open({ open: () => Promise.reject(new Error('no room')) });
  await expect(collect(events)).rejects.toThrow('no room');
  expect(listeners.size).toBe(0);
});

test.each([
  ['turn/completed', {}],
  ['item/started', { item: null }],
  ['error', { willRetry: true }],
])('a %s that cannot be read fails the turn, not the process', async (method, params) => {
  const { events, asked, say } = open();
  const all = collect(events);
  await expect.poll(() => asked).toEqual(['turn/start']);
  say(method, params);
  expect((await all).at(-1)).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
});

test('the end of the app-server fails the turns that run and those that come too late to hear of it', async () => {
  const first = open();
  const all = collect(first.events);
  await expect.poll(() => first.asked).toEqual(['turn/start']);
  first.listeners.end('codex ended with code 1');
  const failure = { code: 'engine_crashed', message: 'codex ended with code 1. Try again.' };
  expect((await all).at(-1)).toMatchObject({ type: 'failed', failure });
  const late: string[] = [];
  first.listeners.add(
    () => undefined,
    (reason) => late.push(reason),
  );
  expect(late).toEqual(['codex ended with code 1']);
});

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
    const threads: Threads = { open: () => Promise.resolve(thread), keep: () => undefined, release: () => Promise.resolve() };
    const run = (over: Partial<Threads> = {}) =>
      end(
        runTurn(
          { server: spied, threads: { ...threads, ...over }, isWarm: true, endStarted: () => Promise.resolve() },
          request,
          {},
          new AbortController().signal,
        ),
      );
    const say = (method: string, params: object) => listeners.tell({ method, params: { threadId: 'thread-1', ...params } });
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
