import { connectImap, imapName, type ImapLogin } from '../mailbox/connect-imap.ts';
import type { Clock } from '@svc/connector-kit';
import { pause } from '@svc/connector-kit/retry.ts';
import type { ImapFlow } from 'imapflow';
import { mailFault } from '../mailbox/mail-fault.ts';

export type SentPlaces = {
  /** The server's folder for sent mail. When empty, the folder that the server marks as such. */
  sentFolder: string;
  /** Folders in which a copy to ourselves arrives; empty when no copies are sent. */
  copyFolders: readonly string[];
};

/** How long a copy may be on its way, and how often it is looked for, ms. */
const copyMs = 15_000;
const tries = 6;

/** Whether the server has stored one of our mails as sent. False when it stores none. */
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
