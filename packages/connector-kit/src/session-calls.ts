import type { SessionRequest } from '@svc/contract/link.ts';
import type { History, InjectAnswer, SessionPage } from '@svc/contract/session.ts';
import { turnLimitMs, type LinkAnswer } from './link-call.ts';
import type { LinkWatches } from './link-watches.ts';
import type { SessionsApi } from './sessions-api.ts';

type Deps = {
  ask(request: SessionRequest, limitMs: number): Promise<LinkAnswer>;
  watches: Pick<LinkWatches, 'add'>;
  nextId(): number;
};

const limitMs = 60_000;

/** Calls about conversations over the link. */
export function createSessionCalls({ ask, watches, nextId }: Deps): SessionsApi {
  // The casts: the link's contract says which answer closes each call.
  return {
    list: (as, page) => ask({ op: 'sessions', id: nextId(), as, ...page }, limitMs) as Promise<SessionPage>,
    history: (as, conversation_key, page) =>
      ask({ op: 'history', id: nextId(), as, conversation_key, ...page }, limitMs) as Promise<History>,
    async forget(as, conversation_key) {
      await ask({ op: 'forget', id: nextId(), as, conversation_key }, limitMs);
    },
    async abort(as, conversation_key) {
      await ask({ op: 'abort', id: nextId(), as, conversation_key }, limitMs);
    },
    inject: (as, conversation_key, said) =>
      ask({ op: 'inject', id: nextId(), as, conversation_key, ...said }, turnLimitMs) as Promise<InjectAnswer>,
    watch: (as, key, handlers, { after, frames } = {}) => watches.add({ as, key, handlers, after, frames }),
  };
}
