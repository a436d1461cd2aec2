import type { Checkouts } from '../checkout/checkouts.ts';
import type { Outbox } from '../delivery/outbox.ts';
import type { Titles } from './session-titles.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { ConversationFiles } from './conversation-files.ts';
import type { EndedEngineSessions } from './ended-engine-sessions.ts';
import type { ObservedStore } from './observed-store.ts';
import type { SessionStore } from './session-store.ts';
import type { Workspaces } from './workspaces.ts';
import type { SessionWatches } from '../watch/session-watches.ts';

export type ForgetDeps = {
  sessions: Pick<SessionStore, 'forgetSaid' | 'delete'>;
  observed: Pick<ObservedStore, 'clear'>;
  journal: Pick<TurnJournal, 'forget'>;
  outbox: Pick<Outbox, 'forget'>;
  conversationFiles: Pick<ConversationFiles, 'forget'>;
  workspaces: Pick<Workspaces, 'forget'>;
  checkouts: Pick<Checkouts, 'forget'>;
  titles: Pick<Titles, 'forget'>;
  watches: Pick<SessionWatches, 'forget'>;
  endedEngineSessions: Pick<EndedEngineSessions, 'removeSoon'>;
};

/**
 * Forgets the messages and files of a conversation: whoever writes there next finds none of them. The engines' own records are removed
 * soon after. The session itself is removed last, so that the conversation can still be found when this is interrupted and repeated.
 */
export async function forgetConversation(
  {
    sessions,
    observed,
    journal,
    outbox,
    conversationFiles,
    workspaces,
    checkouts,
    titles,
    watches,
    endedEngineSessions,
  }: ForgetDeps,
  key: string,
): Promise<void> {
  titles.forget(key);
  await sessions.forgetSaid(key);
  // Begun in one tick, so they share a commit.
  await Promise.all([observed.clear(key, Number.MAX_SAFE_INTEGER), journal.forget(key), outbox.forget(key)]);
  await conversationFiles.forget(key);
  await workspaces.forget(key);
  watches.forget(key);
  await checkouts.forget(key);
  await sessions.delete(key);
  endedEngineSessions.removeSoon();
}
