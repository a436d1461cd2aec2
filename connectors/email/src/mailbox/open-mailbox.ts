import { unavailable } from '@svc/service-kit/service-error.ts';
import type { ImapFlow } from 'imapflow';
import { connectImap, imapName, type ImapLogin } from './connect-imap.ts';
import { mailFault } from './mail-fault.ts';

/** A folder with its own connection, which is opened on demand and reopened after a break. */
export type Mailbox = {
  /** Returns the connection with the folder selected. Rejects with a `ServiceError`. */
  opened(): Promise<ImapFlow>;
  /** Runs a command on the open folder. Rejects with `unavailable` when it is not open, or breaks meanwhile. */
  use<T>(command: (client: ImapFlow) => Promise<T>): Promise<T>;
  /** Closes the connection at once. */
  drop(): void;
};

export function openMailbox(login: ImapLogin, folder: string, readOnly: boolean): Mailbox {
  let client: ImapFlow | null = null;
  const isOpen = (): boolean => client !== null && client.usable && client.mailbox !== false;
  const drop = (): void => {
    client?.close();
    client = null;
  };
  return {
    drop,
    async opened() {
      if (client !== null && isOpen()) return client;
      drop();
      const fresh = await connectImap(login);
      try {
        await fresh.mailboxOpen(folder, { readOnly });
      } catch (error) {
        fresh.close();
        throw folderFault(login, folder, error);
      }
      client = fresh;
      return fresh;
    },
    async use(command) {
      if (client === null || !isOpen()) throw unavailable(`The folder ${folder} is not open at the moment.`);
      const used = client;
      try {
        return await command(used);
      } catch (error) {
        if (used.usable) throw error;
        throw unavailable(`The connection to the folder ${folder} broke.`, error);
      }
    },
  };
}

/** Servers use many words for a missing folder, but one response code. */
function folderFault(login: ImapLogin, folder: string, error: unknown) {
  const { responseStatus, responseText } = error as { responseStatus?: string; responseText?: string };
  const isRefused = responseStatus === 'NO';
  return mailFault(
    imapName(login),
    isRefused ? { mailboxMissing: true, responseText: `${folder}: ${responseText ?? 'refused'}.` } : error,
  );
}
