import type { ConnectorState } from '@svc/connector-kit';
import type { ImapFlow } from 'imapflow';

/** Where a folder was begun: what is above this UID counts. */
export type Begin = { validity: string; uid: number };

/**
 * Notes where the open folder begins, if that is not known yet: what is in it now is old. To be noted before anybody is told that the folder is followed, or
 * a mail that comes before it is first looked at would be taken for old when the process is ended in between.
 */
export async function noteBegin({ mailbox }: ImapFlow, state: ConnectorState): Promise<void> {
  if (mailbox === false || (await state.get<Begin>('begin')) !== undefined) return;
  await state.set('begin', { validity: String(mailbox.uidValidity), uid: mailbox.uidNext - 1 } satisfies Begin);
}
