import type { ConnectorState } from '@svc/connector-kit';
import type { ImapFlow } from 'imapflow';

/** Where following a folder began: mails with higher UIDs count. */
export type Begin = { validity: string; uid: number };

/** Where following the open folder would begin now: its present mails are old. */
export function beginOf({ mailbox }: ImapFlow): Begin | null {
  return mailbox === false ? null : { validity: String(mailbox.uidValidity), uid: mailbox.uidNext - 1 };
}

/**
 * Stores where a folder begins, unless this is known. Call it before the channel reports that it follows the folder: otherwise a mail that
 * arrives before the first poll would count as old if the process ended in between.
 */
export async function noteBegin(begin: Begin | null, state: ConnectorState): Promise<void> {
  if (begin === null || (await state.get<Begin>('begin')) !== undefined) return;
  await state.set('begin', begin);
}
