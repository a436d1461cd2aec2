import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '@svc/service-kit/within.ts';
import type { AppServer } from './app-server.ts';
import type { Thread, TokenCounts } from './codex-messages.ts';
import { RpcError } from './json-rpc.ts';
import { removeRollout } from './remove-rollout.ts';
import { createThreadHolds } from './thread-holds.ts';
import { noCounts } from './turn-usage.ts';

/**
 * `isLoaded`: loaded by an earlier turn, with its tool servers running. `used`: usage of all its turns so far; null when codex reports it
 * while the thread loads.
 */
export type OpenedThread = { id: string; model: string; resumed: boolean; isLoaded: boolean; used: TokenCounts | null };

/**
 * The threads of one app-server. Each is loaded with the policy and tool servers of a turn, and reused only by turns with the same ones.
 */
export type Threads = {
  /**
   * Loads a thread: the one to resume, or a new one when there is none or the app-server cannot read it. It is then held until `keep` or
   * `giveUp`. One that an abandoned turn still holds, with the rights of that turn, is unloaded first.
   */
  open(params: object, resume: string | null): Promise<OpenedThread>;
  /** Keeps a thread loaded for a while after its turn, for a similar one. When there are too many, the oldest is unloaded. */
  keep(thread: OpenedThread, params: object, used: TokenCounts | null): void;
  /** Unloads the thread of a turn that has ended. False, and nothing happens, when the turn no longer holds it. */
  giveUp(thread: OpenedThread): Promise<boolean>;
  /** Unloads a thread with all its children. A thread that cannot be unloaded ends the app-server. */
  release(id: string): Promise<void>;
  /** Permanently removes a thread that is not loaded, damaged or not. An unknown one counts as removed. */
  remove(id: string): Promise<void>;
};

const closeLimitMs = 3000;
const removeLimitMs = 10_000;
const idleMs = 5 * 60_000;
/** Codex reports that a thread is closed slightly before it can be loaded again, ms. */
const closingWaitMs = 20;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `limit`: of threads that are kept. `home`: the program's own folder. */
export function createThreads(server: AppServer, limit: number, home: string): Threads {
  const kept = new Map<string, Pick<OpenedThread, 'model' | 'used'> & { params: string; timer: NodeJS.Timeout }>();
  const releasing = new Map<string, Promise<void>>();
  const holds = createThreadHolds<OpenedThread>();

  const release = (id: string): Promise<void> => {
    clearTimeout(kept.get(id)?.timer);
    kept.delete(id);
    const known = releasing.get(id);
    if (known) return known;
    const done = unload(server, id).finally(() => releasing.delete(id));
    releasing.set(id, done);
    return done;
  };

  /** A loaded thread that fits; one that does not is unloaded first. */
  const takeKept = async (id: string, params: string): Promise<OpenedThread | null> => {
    const known = kept.get(id);
    if (known === undefined) return null;
    clearTimeout(known.timer);
    kept.delete(id);
    // Requested, not just remembered: the answer also shows that the app-server responds in this turn.
    const { data } = await server.request<{ data: string[] }>('thread/loaded/list', {});
    if (known.params === params && data.includes(id))
      return { id, model: known.model, used: known.used, resumed: true, isLoaded: true };
    await release(id);
    return null;
  };

  const resumeOrStart = async (params: object, id: string): Promise<OpenedThread> => {
    // By a turn that was abandoned, with the rights of that turn.
    if (await holds.isHeld(id)) await release(id);
    const loaded = await takeKept(id, JSON.stringify(params));
    if (loaded !== null) return loaded;
    // Resuming a thread that is still loaded would keep the policy of the turn that loaded it.
    await releasing.get(id);
    try {
      return await load(server, params, id);
    } catch (error) {
      if (!isUnknown(error) && !isDamaged(error)) throw error;
      return start(server, params);
    }
  };
  const remove = async (id: string): Promise<void> => {
    try {
      await server.request('thread/delete', { threadId: id }, removeLimitMs);
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  };

  return {
    release,
    async giveUp(thread) {
      if (!holds.end(thread)) return false;
      await release(thread.id);
      return true;
    },
    keep(thread, params, used) {
      const { id, model } = thread;
      if (!holds.end(thread)) return;
      if (limit === 0) return void release(id);
      const timer = setTimeout(() => void release(id), idleMs).unref();
      kept.set(id, { model, used, params: JSON.stringify(params), timer });
      for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - limit))) void release(oldest);
    },
    async remove(id) {
      try {
        await remove(id);
      } catch (error) {
        if (!isDamaged(error)) throw error;
        // Without its file, codex removes the rest of it.
        await removeRollout(home, id);
        await remove(id);
      }
    },
    open(params, resume) {
      const id = resume !== null && uuid.test(resume) ? resume : null;
      return holds.take(id, id === null ? start(server, params) : resumeOrStart(params, id));
    },
  };
}

async function load(server: AppServer, params: object, id: string): Promise<OpenedThread> {
  const call = { threadId: id, excludeTurns: true, ...params };
  for (const until = performance.now() + closeLimitMs; ; await sleep(closingWaitMs)) {
    try {
      const { thread, model } = await server.request<Thread>('thread/resume', call);
      return { id: thread.id, model, resumed: true, isLoaded: false, used: null };
    } catch (error) {
      if (!isClosing(error) || performance.now() > until) throw error;
    }
  }
}

async function start(server: AppServer, params: object): Promise<OpenedThread> {
  const { thread, model } = await server.request<Thread>('thread/start', params);
  return { id: thread.id, model, resumed: false, isLoaded: false, used: noCounts };
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
    // The request failed: whatever state the app-server is in, it cannot be trusted with this thread.
    await server.stop();
  } finally {
    unsubscribe();
  }
}

/** This app-server is still closing it, or another one that is about to end has loaded it. */
const isClosing = (error: unknown): boolean =>
  error instanceof RpcError && /is closing|has an active writer/i.test(error.message);

const isUnknown = (error: unknown): boolean =>
  error instanceof RpcError && /no rollout found|invalid session id|thread not found/i.test(error.message);

/** Nothing of it can be read any more, as after a power failure. */
const isDamaged = (error: unknown): boolean =>
  error instanceof RpcError && /\brollout at .+ (is empty|does not start with)/is.test(error.message);
