import type { CoreContext } from '../context.ts';

type Deps = Pick<CoreContext, 'sessions' | 'observed' | 'journal' | 'conversationFiles' | 'workspaces'>;

/** Forgets what was said in a conversation, and its files: nobody who speaks there next finds any of it. */
export async function forgetConversation(
  { sessions, observed, journal, conversationFiles, workspaces }: Deps,
  key: string,
): Promise<void> {
  await sessions.delete(key);
  await observed.clear(key, Number.MAX_SAFE_INTEGER);
  await journal.forget(key);
  await conversationFiles.forget(key);
  await workspaces.forget(key);
}
