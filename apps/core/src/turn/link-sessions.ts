import type { LinkReply, SessionAnswer, SessionRequest } from '@svc/contract/link.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Peer } from '@svc/service-kit/connector-pass.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';
import { conflict, notFound, type ServiceError } from '@svc/service-kit/service-error.ts';
import type { Claims } from '../session/claims.ts';
import { forgetConversation, type ForgetDeps } from '../session/forget-conversation.ts';
import { readHistory, type HistoryDeps } from '../session/read-history.ts';
import { toPage, type PageDeps } from '../session/session-page.ts';
import { parseCursor } from '../session/session-cursor.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Events } from '../events.ts';
import type { TrustService } from '../trust/trust-service.ts';
import { checkAccess, resolveAsker, seesAll } from '../watch/session-access.ts';
import { createLinkWatches, type LinkWatchOptions } from './link-watches.ts';
import type { Pipeline } from './pipeline.ts';

export type LinkSessionDeps = PageDeps &
  HistoryDeps &
  ForgetDeps & {
    sessions: SessionStore;
    claims: Pick<Claims, 'isClaimed' | 'forget'>;
    trust: Pick<TrustService, 'resolve' | 'onChange'>;
    events: Pick<Events, 'conversationForgotten'>;
    clock: Pick<Clock, 'every'>;
    pipeline: Pick<Pipeline, 'stateOf' | 'liveTurn' | 'isBusy' | 'whileIdle' | 'abort' | 'inject' | 'watch'>;
  };

/** Serves one link's requests about conversations. */
export interface LinkSessions {
  /** @throws ServiceError when the request is refused. */
  serve(peer: Peer, request: SessionRequest, requestId: string): Promise<void>;
  /** Ends the watch that a request began. */
  unwatch(id: number): void;
  /** The link is gone. */
  close(): void;
}

type Options = LinkWatchOptions & { send(reply: LinkReply): Promise<void> | null; isGone(): boolean };

/** Most requests for pages that may wait. */
const maxWaiting = 64;
const maxPage = 100;
/** A connector that takes a message to a terminal has to report the outcome before the manager's timeout of 9 s. */
const typedWithinMs = 6_000;

export function createLinkSessions(deps: LinkSessionDeps, options: Options): LinkSessions {
  const watches = createLinkWatches(deps, options);
  const pages = createInTurnByKey({ ofKey: maxWaiting, all: maxWaiting, what: 'pages of conversations' });
  return {
    async serve(peer, request, requestId) {
      if (request.op === 'watch') return watches.begin(peer, request);
      const answer = async () => {
        const given = await answerTo(deps, peer, request, { requestId, isGone: options.isGone });
        await options.send({ id: request.id, answer: given });
      };
      // Pages may be long: one at a time, each after the one before was read.
      if (request.op !== 'history' && request.op !== 'sessions') return answer();
      return pages('', async () => {
        await answer();
        await options.link.room();
      });
    },
    unwatch: watches.end,
    close: watches.close,
  };
}

type Asked = Exclude<SessionRequest, { op: 'watch' }>;
type Call = { requestId: string; isGone(): boolean };

async function answerTo(deps: LinkSessionDeps, peer: Peer, request: Asked, call: Call): Promise<SessionAnswer> {
  if (request.op === 'sessions') return list(deps, peer, request);
  const session = await checkAccess(deps, peer, request);
  const key = session.conversation_key;
  switch (request.op) {
    case 'history':
      return readHistory(deps, key, { limit: request.limit ?? maxPage, before: request.before ?? Number.MAX_SAFE_INTEGER });
    case 'abort':
      if (!deps.pipeline.abort(key)) throw notFound('turn in flight for', key);
      return { ok: true };
    case 'forget':
      await forget(deps, key);
      return { ok: true };
    case 'inject': {
      const { raw_username, raw_id } = request.as.sender;
      const { trust_tier: tier, denied, principal_id } = await resolveAsker(deps, peer, request.as);
      const by = raw_username ?? raw_id;
      // What is typed into a terminal runs with the operator's rights.
      const mayType = tier === 'SACRED' && !denied;
      const isOwn = !mayType && session.surface === request.as.channel && session.principal_id === principal_id;
      const from = isOwn ? request.as.sender : undefined;
      const { text, interrupt, message_id } = request;
      const said = { conversation_key: key, text, by, from, interrupt, mayType, message_id, withinMs: typedWithinMs };
      return deps.pipeline.inject(said, { sink: null, isGone: call.isGone }, call.requestId);
    }
  }
}

async function list(deps: LinkSessionDeps, peer: Peer, { as, limit = maxPage, before }: Extract<Asked, { op: 'sessions' }>) {
  const identity = await resolveAsker(deps, peer, as);
  const after = parseCursor(before);
  const isAll = seesAll(identity);
  const own = { prefix: `${peer.type}:${peer.instanceId}:`, principalId: isAll ? null : identity.principal_id };
  // Sessions without a person do not belong to an unknown sender.
  if (!isAll && own.principalId === null) return { sessions: [], next: null };
  const rows =
    isAll && peer.sessions === 'every' ? await deps.sessions.list(after, limit) : await deps.sessions.listOf(own, after, limit);
  return toPage(deps, rows, limit);
}

/** Like `/new`: what the operator set for the conversation stays. */
async function forget(deps: LinkSessionDeps, key: string): Promise<void> {
  if (deps.pipeline.isBusy(key)) throw inFlight();
  if (deps.claims.isClaimed(key))
    throw conflict('This conversation is open in a terminal. Release it there before you forget it.');
  await deps.pipeline.whileIdle(key, () => forgetConversation(deps, key));
  deps.events.conversationForgotten(key);
}

const inFlight = (): ServiceError => conflict('A turn of this conversation is in flight. Abort it first.');
