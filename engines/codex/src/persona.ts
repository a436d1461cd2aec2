import { createHash } from 'node:crypto';
import type { AppServer } from './app-server.ts';
import type { OpenedThread } from './threads.ts';

/** Codex freezes a thread's instructions when it begins it. One that has changed since is told to the thread as a message. */
export type Personas = { apply(server: AppServer, thread: OpenedThread, system: string): Promise<void> };

/** Threads whose persona is remembered. One that is not, as after a restart, is told its persona once more. */
const maxThreads = 1000;

export function createPersonas(): Personas {
  const told = new Map<string, string>();
  return {
    async apply(server, thread, system) {
      const hash = createHash('sha256').update(system).digest('base64');
      const known = told.get(thread.id);
      told.delete(thread.id);
      told.set(thread.id, hash);
      for (const oldest of told.keys()) {
        if (told.size <= maxThreads) break;
        told.delete(oldest);
      }
      if (thread.resumed && known !== hash) await server.request('thread/inject_items', toItems(thread.id, system));
    },
  };
}

const toItems = (threadId: string, system: string): object => ({
  threadId,
  items: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: `${heading}\n\n${system}` }] }],
});

const heading = 'From now on these instructions hold, in place of those at the beginning:';
