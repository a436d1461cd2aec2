import type { LinkReply, LinkRequest, SessionAsker } from '@svc/contract/link.ts';
import type { StartContext } from './connector.ts';
import { toCoreError, type CoreError } from './core-error.ts';
import type { LinkSocket } from './core-link-socket.ts';
import { createGuardedCall } from './guarded-call.ts';
import type { WatchHandlers } from './sessions-api.ts';

type Watch = {
  id: number;
  as: SessionAsker;
  key: string;
  after: number | undefined;
  frames: boolean | undefined;
  handlers: WatchHandlers;
};

/** The watches of a connector. They survive a break of the link: a new link continues after the last frame. */
export interface LinkWatches {
  add(watch: Omit<Watch, 'id'>): () => void;
  /** The link is open, for the first time or again. */
  takeUp(): void;
  /** False for a reply that belongs to no watch. */
  take(reply: LinkReply): boolean;
  areOpen(): boolean;
  /** The core no longer accepts this connector. */
  fail(error: CoreError): void;
}

type Deps = { socket: Pick<LinkSocket, 'open' | 'isOpen' | 'write'>; log: StartContext['log']; nextId(): number };

export function createLinkWatches({ socket, log, nextId }: Deps): LinkWatches {
  const watches = new Map<number, Watch>();
  const write = (request: LinkRequest) => socket.write(JSON.stringify(request));
  const begin = ({ id, as, key, after, frames }: Watch) => write({ op: 'watch', id, as, conversation_key: key, after, frames });

  const guarded = createGuardedCall(log, 'a watch handler');
  const end = (watch: Watch, error: CoreError): void => {
    watches.delete(watch.id);
    guarded(() => watch.handlers.onEnd?.(error));
  };

  return {
    add(asked) {
      const watch: Watch = { ...asked, id: nextId() };
      watches.set(watch.id, watch);
      if (socket.isOpen()) begin(watch);
      else socket.open();
      return () => {
        if (watches.delete(watch.id) && socket.isOpen()) write({ op: 'unwatch', id: nextId(), watch: watch.id });
      };
    },
    takeUp: () => watches.forEach(begin),
    take(reply) {
      const watch = watches.get(reply.id);
      if (watch === undefined) return false;
      if ('error' in reply) end(watch, toCoreError(reply.error));
      else if ('seen' in reply) {
        if (reply.seen.seq > 0) watch.after = reply.seen.seq;
        guarded(() => watch.handlers.onFrame(reply.seen));
      }
      return true;
    },
    areOpen: () => watches.size > 0,
    fail(error) {
      for (const watch of watches.values()) end(watch, error);
    },
  };
}
