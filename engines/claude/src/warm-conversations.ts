import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { treeMemory } from '@svc/engine-kit/process-memory.ts';
import { fingerprintOf, type Conversation } from './conversation.ts';

/**
 * Programs kept open between turns: at most `limit`, each for `idleMs` and while it uses at most `memory` bytes. The least recently used
 * one is closed first.
 */
export type WarmConversations = {
  /**
   * Takes the open program that fits the request from the pool. Others of the conversation have ended when it resolves, because they may
   * still write the session's history.
   */
  take(request: EngineRequest): Promise<Conversation | null>;
  /** Puts a program back after its turn, or closes it. */
  keep(key: string, conversation: Conversation): void;
  /** Closes the program that is kept with this session; resolves when it has ended. */
  letGo(sessionId: string): Promise<void>;
  close(): Promise<void>;
};

export const idleMs = 5 * 60_000;

export function createWarmConversations({ limit, memory }: { limit: number; memory: number }): WarmConversations {
  const kept = new Map<string, { conversation: Conversation; timer: NodeJS.Timeout }>();
  const closing = new Map<string, Promise<unknown>>();

  const closeOne = (key: string, conversation: Conversation): Promise<unknown> => {
    const done = Promise.all([closing.get(key), conversation.close()]).finally(() => {
      if (closing.get(key) === done) closing.delete(key);
    });
    closing.set(key, done);
    return done;
  };
  const remove = (key: string): Conversation | null => {
    const entry = kept.get(key);
    if (entry === undefined) return null;
    kept.delete(key);
    clearTimeout(entry.timer);
    return entry.conversation;
  };
  const drop = (key: string) => {
    const conversation = remove(key);
    if (conversation) void closeOne(key, conversation);
  };

  /** Runs in parallel with turns: the program may serve its next turn meanwhile, and is measured again after it. */
  const dropWhenTooLarge = async (key: string, conversation: Conversation) => {
    const { pid } = conversation;
    const held = pid === undefined ? null : await treeMemory(pid);
    if (held !== null && held > memory && kept.get(key)?.conversation === conversation) drop(key);
  };

  return {
    async take(request) {
      const { conversationKey: key } = request;
      const conversation = remove(key);
      if (conversation !== null && fits(conversation, request)) return conversation;
      await (conversation === null ? closing.get(key) : closeOne(key, conversation));
      return null;
    },
    keep(key, conversation) {
      drop(key);
      if (!conversation.alive || limit === 0) return void closeOne(key, conversation);
      const timer = setTimeout(() => drop(key), idleMs);
      timer.unref();
      kept.set(key, { conversation, timer });
      for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - limit))) drop(oldest);
      // A program that cannot be measured is kept: number and time are limited anyway.
      void dropWhenTooLarge(key, conversation).catch(() => undefined);
    },
    async letGo(sessionId) {
      const found = [...kept].filter(([, { conversation }]) => conversation.sessionId === sessionId);
      for (const [key] of found) drop(key);
      await Promise.all(closing.values());
    },
    async close() {
      for (const key of kept.keys()) drop(key);
      await Promise.all(closing.values());
    },
  };
}

/**
 * A program is bound to its session, to the rights, persona, model and folder with which it was started, and to the tool servers that it
 * has had.
 */
const fits = (conversation: Conversation, request: EngineRequest): boolean =>
  conversation.alive &&
  conversation.sessionId === request.resume &&
  conversation.fingerprint === fingerprintOf(request) &&
  conversation.canHave(request);
