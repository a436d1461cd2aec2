import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AppServer } from './app-server.ts';
import { RpcError, type Notification } from './json-rpc.ts';
import { createThreads } from './threads.ts';

const id = '01a1fd48-7605-7812-90b1-68128dc0abdc';
const second = '01a1fd48-7605-7812-90b1-68128dc0abdd';

/** An app-server that tracks which threads are loaded. */
function open(limit = 4, home = '/nowhere') {
  const loaded = new Set<string>();
  const asked: string[] = [];
  const listeners = new Set<(notification: Notification) => void>();
  const answers: Record<string, (params: { threadId: string }) => unknown> = {
    'thread/loaded/list': () => ({ data: [...loaded] }),
    'thread/start': () => (loaded.add(id), { thread: { id }, model: 'm' }),
    'thread/resume': ({ threadId }) => (loaded.add(threadId), { thread: { id: threadId }, model: 'm' }),
    'thread/unsubscribe'({ threadId }) {
      loaded.delete(threadId);
      for (const listener of listeners) listener({ method: 'thread/closed', params: { threadId } });
      return { status: 'unsubscribed' };
    },
  };
  const server: AppServer = {
    request: async <Result>(method: string, params: object) => {
      if (method !== 'thread/loaded/list') asked.push(method);
      return answers[method]?.(params as { threadId: string }) as Result;
    },
    pid: undefined,
    ended: new Promise(() => undefined),
    ending: new AbortController().signal,
    stop: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    endOrphans: () => Promise.resolve(),
    answerFor: () => () => undefined,
    subscribe: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
  };
  return { threads: createThreads(server, limit, home), loaded, asked, answers };
}

test('reuses the loaded thread for a turn with the same parameters', async () => {
  const { threads, asked } = open();
  const first = await threads.open({ sandbox: 'x' }, null);
  threads.keep(first, { sandbox: 'x' }, first.used);
  expect(await threads.open({ sandbox: 'x' }, id)).toEqual({
    id,
    model: 'm',
    resumed: true,
    isLoaded: true,
    used: expect.anything(),
  });
  expect(asked).toEqual(['thread/start']);
});

test('reloads the thread for a turn with other parameters, such as rights, persona or tool servers', async () => {
  const { threads, asked } = open();
  threads.keep(await threads.open({ sandbox: 'full' }, null), { sandbox: 'full' }, null);
  expect(await threads.open({ sandbox: 'none' }, id)).toMatchObject({ isLoaded: false });
  expect(asked).toEqual(['thread/start', 'thread/unsubscribe', 'thread/resume']);
});

test('reloads a thread that the app-server has unloaded', async () => {
  const { threads, asked, loaded } = open();
  threads.keep(await threads.open({}, null), {}, null);
  loaded.clear();
  expect(await threads.open({}, id)).toMatchObject({ resumed: true, isLoaded: false });
  expect(asked).toContain('thread/resume');
});

test('keeps the configured number of threads loaded, most recent first, for a limited time', async () => {
  vi.useFakeTimers();
  try {
    const { threads, loaded } = open(1);
    threads.keep(await threads.open({}, null), {}, null);
    threads.keep(await threads.open({}, second), {}, null);
    expect([...loaded]).toEqual([second]);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect([...loaded]).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test('unloads a thread at once when none is kept warm', async () => {
  const { threads, loaded } = open(0);
  threads.keep(await threads.open({}, null), {}, null);
  expect(loaded.size).toBe(0);
});

test('reloads a thread that an abandoned turn still holds, and ignores what that turn does with it later', async () => {
  const { threads, asked, loaded } = open();
  const abandoned = await threads.open({ sandbox: 'full' }, id);
  const next = await threads.open({ sandbox: 'none' }, id);
  expect(asked).toEqual(['thread/resume', 'thread/unsubscribe', 'thread/resume']);
  threads.keep(abandoned, { sandbox: 'full' }, null);
  expect(await threads.giveUp(abandoned)).toBe(false);
  expect([...loaded]).toEqual([id]);
  expect(await threads.giveUp(next)).toBe(true);
  expect([...loaded]).toEqual([]);
});

test('reloads a thread that an abandoned turn is still loading', async () => {
  const { threads, asked } = open();
  const abandoned = threads.open({ sandbox: 'full' }, id);
  const next = await threads.open({ sandbox: 'none' }, id);
  expect(asked).toEqual(['thread/resume', 'thread/unsubscribe', 'thread/resume']);
  expect(await threads.giveUp(await abandoned)).toBe(false);
  expect(await threads.giveUp(next)).toBe(true);
});

test('keeps nothing of a turn that held an unknown thread, or none', async () => {
  const { threads, asked } = open();
  expect(await threads.giveUp(await threads.open({}, null))).toBe(true);
  threads.keep(await threads.open({}, id), {}, null);
  expect(await threads.open({}, id)).toMatchObject({ isLoaded: true });
  expect(asked).toEqual(['thread/start', 'thread/unsubscribe', 'thread/resume']);
});

/** As codex reports a file that a power failure has emptied. */
const damaged = (method: string) => () => {
  const message = 'thread-store internal error: failed to read session metadata /x.jsonl: rollout at /x.jsonl is empty';
  throw new RpcError(method, { code: -32603, message });
};

test('starts a new thread in place of a damaged one', async () => {
  const { threads, asked, answers } = open();
  answers['thread/resume'] = damaged('thread/resume');
  expect(await threads.open({}, second)).toMatchObject({ id, resumed: false });
  expect(asked).toEqual(['thread/resume', 'thread/start']);
  answers['thread/resume'] = () => {
    throw new RpcError('thread/resume', { code: -32603, message: 'failed to read thread: Too many open files' });
  };
  await expect(threads.open({}, second)).rejects.toThrow('Too many open files');
});

test('removes a damaged thread with its file, and no other file', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const day = path.join(folder.path, 'sessions/2026/01/01');
  mkdirSync(day, { recursive: true });
  const [file, other] = [id, second].map((each) => path.join(day, `rollout-2026-01-01T00-00-00-${each}.jsonl`)) as [
    string,
    string,
  ];
  for (const each of [file, other]) writeFileSync(each, '');
  const { threads, asked, answers } = open(4, folder.path);
  answers['thread/delete'] = () => (existsSync(file) ? damaged('thread/delete')() : {});
  await threads.remove(id);
  expect(asked).toEqual(['thread/delete', 'thread/delete']);
  expect([file, other].map(existsSync)).toEqual([false, true]);
});
