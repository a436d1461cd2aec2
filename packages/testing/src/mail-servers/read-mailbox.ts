import { ImapFlow } from 'imapflow';

export type KeptMail = { uid: number; raw: Buffer; flags: string[] };

type Login = { port: number; user: string; password: string };

/** The mails of a folder, in the order of their UIDs. */
export async function readMailbox({ port, user, password }: Login, folder: string): Promise<KeptMail[]> {
  const auth = { user, pass: password };
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth, logger: false });
  client.on('error', () => undefined); // the command that it breaks rejects
  await client.connect();
  try {
    await client.mailboxOpen(folder, { readOnly: true });
    if (client.mailbox === false || client.mailbox.exists === 0) return [];
    // A second command during an iterated fetch would wait forever.
    const found = await client.fetchAll('1:*', { uid: true, source: true, flags: true });
    return found
      .map(({ uid, source, flags }) => ({ uid, raw: source ?? Buffer.alloc(0), flags: [...(flags ?? [])] }))
      .toSorted((one, other) => one.uid - other.uid);
  } finally {
    client.close();
  }
}
