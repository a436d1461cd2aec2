import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { clearOutbox } from '@svc/chat-ui/outbox/outbox.ts';
import { setNeedCount } from '../parts/page-title.ts';
import { storageName } from '../parts/conversation/storage-name.ts';
import { forgetUnfinishedUploads } from '../parts/uploads/unfinished-uploads.ts';
import { dropLastUser } from './last-user.ts';

/** Deletes what this browser keeps of a person's writing, when their login ends. */
export async function wipeDevice(user: string): Promise<void> {
  dropLastUser();
  forgetUnfinishedUploads();
  setNeedCount(0);
  const name = storageName(user);
  // The browser may not allow storage; then there is nothing to delete.
  await Promise.all([createDrafts(name).clear(), clearOutbox(name)]).catch(() => undefined);
}
