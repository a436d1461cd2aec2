import { expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { guardEvents } from '@svc/engine-kit/guard-events.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { AppServer } from './app-server.ts';
import { createListeners } from './listeners.ts';
import { runTurn } from './run-turn.ts';
import type { Threads } from './threads.ts';

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
    stop: () => Promise.resolve(),
    kill: () => Promise.resolve(),
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
  await expect.poll(() => released, { timeout: 4000 }).toContain('thread-1');
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
