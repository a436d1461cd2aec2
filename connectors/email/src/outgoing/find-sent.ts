import { connectImap, imapName, type ImapLogin } from '../mailbox/connect-imap.ts';
import type { Clock } from '@svc/connector-kit';
import { pause } from '@svc/connector-kit/retry.ts';
import type { ImapFlow } from 'imapflow';
import { mailFault } from '../mailbox/mail-fault.ts';

export type SentPlaces = {
  /** Where the server keeps what was sent; the one that it calls so where it is empty. */
  sentFolder: string;
  /** Folders where a copy comes in that was sent to ourselves; none where there is no such copy. */
  copyFolders: readonly string[];
};

/** A copy is on its way for so long, ms, and is looked for so often. */
const copyMs = 15_000;
const tries = 6;

/** Whether a mail of ours is among what the server keeps of what was sent. False where it keeps nothing. */
export async function isInSent(login: ImapLogin, places: SentPlaces, messageId: string, clock: Clock): Promise<boolean> {
  const client = await connectImap(login);
  try {
    const named =
      places.sentFolder === ''
        ? (await client.list()).find(({ specialUse }) => specialUse === '\\Sent')?.path
        : places.sentFolder;
    const folders = [...(named === undefined ? [] : [named]), ...places.copyFolders];
    for (let left = places.copyFolders.length > 0 ? tries : 1; left > 0; left--) {
      for (const folder of folders) if (await isIn(client, folder, messageId)) return true;
      if (left > 1) await pause(clock, copyMs / tries, undefined);
    }
    return false;
  } catch (error) {
    throw mailFault(imapName(login), error);
  } finally {
    client.close();
  }
}

async function isIn(client: ImapFlow, folder: string, messageId: string): Promise<boolean> {
  await client.mailboxOpen(folder, { readOnly: true });
  const found = await client.search({ header: { 'message-id': `<${messageId}>` } }, { uid: true });
  return Array.isArray(found) && found.length > 0;
}
