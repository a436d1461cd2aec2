import { within } from '@svc/engine-kit/process-group.ts';
import type { AppServer } from './app-server.ts';
import type { Thread } from './codex-messages.ts';
import { RpcError } from './json-rpc.ts';

export type OpenedThread = { id: string; model: string; resumed: boolean };

/** Threads of one app-server. A thread is loaded for one turn at a time, with that turn's policy and tool servers. */
export type Threads = {
  /** Loads a thread: the one to go on with, or a new one when there is none or the app-server does not know it. */
  open(params: object, resume: string | null): Promise<OpenedThread>;
  /** Unloads a thread with all its children. A thread that does not go away takes the app-server with it. */
  release(id: string): Promise<void>;
};

const closeLimitMs = 3000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createThreads(server: AppServer): Threads {
  const releasing = new Map<string, Promise<void>>();

  const release = (id: string): Promise<void> => {
    const known = releasing.get(id);
    if (known) return known;
    const done = unload(server, id).finally(() => releasing.delete(id));
    releasing.set(id, done);
    return done;
  };

  return {
    release,
    async open(params, resume) {
      if (resume === null || !uuid.test(resume)) return start(server, params);
      // Resuming a thread that is still loaded would keep the policy of the turn that loaded it.
      await releasing.get(resume);
      try {
        const { thread, model } = await server.request<Thread>('thread/resume', {
          threadId: resume,
          excludeTurns: true,
          ...params,
        });
        return { id: thread.id, model, resumed: true };
      } catch (error) {
        if (!isUnknown(error)) throw error;
        return start(server, params);
      }
    },
  };
}

async function start(server: AppServer, params: object): Promise<OpenedThread> {
  const { thread, model } = await server.request<Thread>('thread/start', params);
  return { id: thread.id, model, resumed: false };
}

async function unload(server: AppServer, id: string): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const unsubscribe = server.subscribe(({ method, params }) => {
    if (method === 'thread/closed' && params.threadId === id) closed.resolve();
  });
  try {
    const { status } = await server.request<{ status: string }>('thread/unsubscribe', { threadId: id }, closeLimitMs);
    if (status !== 'notLoaded' && !(await within(closed.promise, closeLimitMs))) await server.stop();
  } catch {
    // It could not even be asked: whatever state the app-server is in, it is not to be trusted with this thread.
    await server.stop();
  } finally {
    unsubscribe();
  }
}

const isUnknown = (error: unknown): boolean =>
  error instanceof RpcError && /no rollout found|invalid session id|thread not found/i.test(error.message);
