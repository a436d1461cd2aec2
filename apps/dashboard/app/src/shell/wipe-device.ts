import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { clearOutbox } from '@svc/chat-ui/outbox/outbox.ts';

/** What this browser keeps of a person's writing goes with the login. */
export async function wipeDevice(user: string): Promise<void> {
  // A browser that keeps nothing has nothing to lose.
  await Promise.all([createDrafts(`web-${user}`).clear(), clearOutbox(`web-${user}`)]).catch(() => undefined);
}
