import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { AppServer } from './app-server.ts';
import { createListeners } from './listeners.ts';
import { runTurn } from './run-turn.ts';
import type { Threads } from './threads.ts';
import { noCounts } from './turn-usage.ts';

/** An app-server that does nothing unasked. */
function open(over: Partial<Threads> = {}, fields: Partial<EngineRequest> = {}) {
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
    answerFor: () => () => undefined,
    subscribe: listeners.add,
  };
  const threads: Omit<Threads, 'remove'> = {
    open: () => Promise.resolve({ id: 'thread-1', model: 'm', resumed: false, isLoaded: false, used: null }),
    keep: () => undefined,
    release: () => Promise.resolve(),
    giveUp: () => Promise.resolve(true),
    ...over,
  };
  const controller = new AbortController();
  const request = engineRequest({ prompt: 'hi', cwd: '/', ...fields });
  const run = (signal: AbortSignal) =>
    runTurn({ server, threads, isWarm: false, endStarted: () => Promise.resolve() }, request, {}, signal);
  const say = (method: string, params: object) => listeners.notify({ method, params: { threadId: 'thread-1', ...params } });
  return { run, events: run(controller.signal), listeners, asked, say, controller };
}

async function collect(events: AsyncIterable<EngineEvent>): Promise<EngineEvent[]> {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test('a finished turn leaves no listener, and an abort sends nothing more', async () => {
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

test('does not charge earlier usage of a thread, although codex reports it when the thread is opened', async () => {
  const counts = (inputTokens: number) => ({ ...noCounts, inputTokens });
  const tell = (total: number, last: number) =>
    turn.say('thread/tokenUsage/updated', { tokenUsage: { total: counts(total), last: counts(last) } });
  const opened = { id: 'thread-1', model: 'm', resumed: true, isLoaded: false, used: null };
  const turn = open({ open: () => Promise.resolve().then(() => (tell(1000, 0), opened)) });
  const all = collect(turn.events);
  await expect.poll(() => turn.asked).toEqual(['turn/start']);
  turn.say('turn/started', {});
  tell(1030, 0); // as codex reports a compaction
  turn.say('turn/completed', { turn: { status: 'completed', error: null } });
  expect((await all).at(-2)).toMatchObject({ type: 'usage', usage: { input_tokens: 30 } });
});

test('interrupts an aborted turn', async () => {
  const { run, asked, say, controller } = open();
  const all = collect(guardEvents(run, controller.signal));
  await expect.poll(() => asked).toEqual(['turn/start']);
  controller.abort();
  await expect.poll(() => asked).toEqual(['turn/start', 'turn/interrupt']);
  say('turn/completed', { turn: { status: 'interrupted', error: null } });
  expect((await all).at(-1)).toEqual({ type: 'aborted' });
});

test('ends a turn that ignores its interrupt, and releases its thread', async () => {
  const released: string[] = [];
  const giveUp: Threads['giveUp'] = ({ id }) => Promise.resolve(released.push(id) > 0);
  const { run, listeners, asked, controller } = open({ giveUp });
  const all = collect(guardEvents(run, controller.signal));
  await expect.poll(() => asked).toEqual(['turn/start']);
  controller.abort();
  await expect.poll(() => released).toContain('thread-1');
  expect((await all).slice(-2)).toMatchObject([{ type: 'usage' }, { type: 'aborted' }]);
  expect(listeners.size).toBe(0);
});

test('leaves no listener when a thread cannot be opened', async () => {
  const { events, listeners } = open({ open: () => Promise.reject(new Error('no room')) });
  await expect(collect(events)).rejects.toThrow('no room');
  expect(listeners.size).toBe(0);
});

test.each([
  ['turn/completed', {}],
  ['item/started', { item: null }],
  ['error', { willRetry: true }],
])('an invalid %s fails the turn, not the process', async (method, params) => {
  const { events, asked, say } = open();
  const all = collect(events);
  await expect.poll(() => asked).toEqual(['turn/start']);
  say(method, params);
  expect((await all).at(-1)).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
});

test('the end of the app-server fails running turns and those that begin later', async () => {
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

describe('turn with tool servers', () => {
  const toolServers = ['a', 'b'].map((name) => ({ name, type: 'http' as const, url: 'http://x', headers: {}, safe: true }));

  function start() {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { run, asked, say, listeners, controller } = open({}, { toolPolicy: 'full', toolServers });
    const tell = (name: string, status: string) => say('mcpServer/startupStatus/updated', { name, status, error: null });
    const outcome = collect(guardEvents(run, controller.signal));
    return { tell, say, outcome, listeners, leave: () => controller.abort(), isStarted: () => asked.includes('turn/start') };
  }

  test('starts once each of them is ready or has failed', async () => {
    const { tell, isStarted, outcome, listeners } = start();
    await vi.advanceTimersByTimeAsync(2000);
    tell('a', 'starting');
    tell('a', 'ready');
    tell('b', 'starting');
    await vi.advanceTimersByTimeAsync(2000);
    expect(isStarted()).toBe(false);
    tell('b', 'failed');
    await vi.advanceTimersByTimeAsync(0);
    expect(isStarted()).toBe(true);
    listeners.end('it is over');
    expect(JSON.stringify(await outcome)).not.toContain('did not start in time');
  });

  test('starts without those that are silent for eleven seconds, and names them', async () => {
    const { tell, say, isStarted, outcome } = start();
    await vi.advanceTimersByTimeAsync(10_000);
    tell('a', 'ready');
    expect(isStarted()).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(isStarted()).toBe(true);
    say('turn/completed', { turn: { status: 'completed', error: null } });
    const missing = (await outcome).filter((event) => event.type === 'notice');
    expect(missing).toMatchObject([{ code: 'tool_server_missing', toolServer: 'b' }]);
  });

  test('ends at once when aborted while it waits', async () => {
    const { isStarted, outcome, leave } = start();
    await vi.advanceTimersByTimeAsync(500);
    leave();
    await vi.advanceTimersByTimeAsync(0);
    expect((await outcome).at(-1)).toEqual({ type: 'aborted' });
    expect(isStarted()).toBe(false);
  });

  test('fails at once when the app-server ends while it waits', async () => {
    const { outcome, listeners } = start();
    await vi.advanceTimersByTimeAsync(500);
    listeners.end('codex ended with code 1');
    await vi.advanceTimersByTimeAsync(0);
    expect((await outcome).at(-1)).toMatchObject({ type: 'failed', failure: { code: 'engine_crashed' } });
  });
});
