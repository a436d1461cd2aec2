import { connectImap, imapName, type ImapLogin } from '../mailbox/connect-imap.ts';
import { mailFault } from '../mailbox/mail-fault.ts';

/** Whether a mail of ours is among what the server keeps of what was sent. False where it keeps nothing. */
export async function isInSent(login: ImapLogin, folder: string, messageId: string): Promise<boolean> {
  const client = await connectImap(login);
  try {
    const place = folder !== '' ? folder : (await client.list()).find(({ specialUse }) => specialUse === '\\Sent')?.path;
    if (place === undefined) return false;
    await client.mailboxOpen(place, { readOnly: true });
    const found = await client.search({ header: { 'message-id': `<${messageId}>` } }, { uid: true });
    return found !== false && found !== undefined && found.length > 0;
  } catch (error) {
    throw mailFault(imapName(login), error);
  } finally {
    client.close();
  }
}
