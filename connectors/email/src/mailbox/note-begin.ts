import type { ConnectorState } from '@svc/connector-kit';
import type { ImapFlow } from 'imapflow';

/** Where a folder was begun: what is above this UID counts. */
export type Begin = { validity: string; uid: number };

/** Where the open folder would begin now: what is in it is old. */
export function beginOf({ mailbox }: ImapFlow): Begin | null {
  return mailbox === false ? null : { validity: String(mailbox.uidValidity), uid: mailbox.uidNext - 1 };
}

/**
 * Notes where a folder begins, if that is not known yet. Call it before the channel says that it follows the folder: a mail that comes before the first look
 * would else count as old when the process ends in between.
 */
export async function noteBegin(begin: Begin | null, state: ConnectorState): Promise<void> {
  if (begin === null || (await state.get<Begin>('begin')) !== undefined) return;
  await state.set('begin', begin);
}
