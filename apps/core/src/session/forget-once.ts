import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Events } from '../events.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { Claims } from './claims.ts';
import { isOnceKey } from './conversation-key.ts';
import { forgetConversation, type ForgetDeps } from './forget-conversation.ts';
import type { SessionStore } from './session-store.ts';

const hourMs = 60 * 60_000;
/** The same request can be repeated for this long, and gets the same answer. */
const keptMs = 24 * hourMs;

type Deps = ForgetDeps & {
  sessions: Pick<SessionStore, 'delete' | 'idleSince'>;
  pipeline: Pick<Pipeline, 'isBusy' | 'whileIdle'>;
  claims: Pick<Claims, 'isClaimed' | 'forget'>;
  events: Pick<Events, 'conversationForgotten'>;
  clock: Clock;
  log: Pick<Log, 'error'>;
};

/** Forgets, every hour, the conversations of a single request that were not used for a day. The returned function stops it. */
export function forgetOnceConversations(deps: Deps): () => void {
  return deps.clock.every(hourMs, () => {
    sweep(deps).catch((error: unknown) =>
      deps.log.error({ err: error }, 'conversations of single requests could not be forgotten'),
    );
  });
}

async function sweep(deps: Deps): Promise<void> {
  const before = deps.clock.now() - keptMs;
  let after = '';
  do {
    const page = await deps.sessions.idleSince(before, after);
    for (const key of page.keys) if (isOnceKey(key)) await forget(deps, key);
    after = page.next;
  } while (after !== '');
}

/** A conversation that is in use, or claimed, stays until the next run. */
async function forget(deps: Deps, key: string): Promise<void> {
  if (deps.pipeline.isBusy(key) || deps.claims.isClaimed(key)) return;
  await deps.pipeline.whileIdle(key, async () => {
    deps.claims.forget(key);
    await forgetConversation(deps, key);
  });
  deps.events.conversationForgotten(key);
}
