import { Worker } from 'node:worker_threads';
import type { Clock } from '@svc/service-kit/clock.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { SearchAnswers, SearchQuestion, SearchReply } from './search-messages.ts';

export type SearchThread = {
  /** Rejects with 503 when the thread fails or takes too long. */
  ask<T extends SearchQuestion>(question: T): Promise<SearchAnswers[T['type']]>;
  close(): Promise<void>;
};

type Waiting = { resolve: (value: never) => void; reject: (error: unknown) => void; cancel: () => void };

const idleMs = 20_000;
const patienceMs = 20_000;
const maxWaiting = 64;

/** The thread that reads and writes the search index. It is started on demand, and ends when it has been idle for a while. */
export function createSearchThread(files: { eventFile: string; indexFile: string }, clock: Clock): SearchThread {
  let worker: Worker | null = null;
  let number = 0;
  let cancelEnd = () => {};
  const waiting = new Map<number, Waiting>();

  const end = (why: string, cause?: unknown): Promise<number> | undefined => {
    cancelEnd();
    const ending = worker?.terminate();
    worker = null;
    for (const { reject, cancel } of waiting.values()) {
      cancel();
      reject(unavailable(why, cause));
    }
    waiting.clear();
    return ending;
  };
  const open = (): Worker => {
    const opened = new Worker(new URL('./search-worker.ts', import.meta.url), { workerData: files });
    opened.unref();
    opened.on('message', (reply: SearchReply) => {
      const asker = waiting.get(reply.number);
      waiting.delete(reply.number);
      asker?.cancel();
      if ('value' in reply) asker?.resolve(reply.value as never);
      else asker?.reject(unavailable('The search index is unavailable at the moment. Try again.', new Error(reply.error)));
      if (waiting.size === 0) cancelEnd = clock.after(idleMs, () => void end('The search was stopped.'));
    });
    opened.on('error', (error) => {
      if (worker === opened) void end('The search failed. Try again.', error);
    });
    return opened;
  };
  return {
    ask(question) {
      if (waiting.size >= maxWaiting) return Promise.reject(unavailable('Too many searches are running. Try again later.'));
      cancelEnd();
      worker ??= open();
      number++;
      const cancel = clock.after(patienceMs, () => void end('The search took too long. Use rarer words or a later start time.'));
      const answer = new Promise<never>((resolve, reject) => waiting.set(number, { resolve, reject, cancel }));
      worker.postMessage({ ...question, number });
      return answer;
    },
    async close() {
      await end('The collector is stopping.');
    },
  };
}
