import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { clearOutbox } from '@svc/chat-ui/outbox/outbox.ts';
import { setNeedCount } from '../parts/page-title.ts';
import { writerName } from '../parts/conversation/writer-name.ts';
import { forgetBegunUploads } from '../parts/uploads/begun-uploads.ts';
import { dropLastUser } from './last-user.ts';

/** What this browser keeps of a person's writing goes with the login. */
export async function wipeDevice(user: string): Promise<void> {
  dropLastUser();
  forgetBegunUploads();
  setNeedCount(0);
  const name = writerName(user);
  // A browser that keeps nothing has nothing to lose.
  await Promise.all([createDrafts(name).clear(), clearOutbox(name)]).catch(() => undefined);
}
