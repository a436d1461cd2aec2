import { ImapFlow } from 'imapflow';
import type { Config } from '../meta.ts';
import type { Credentials } from '../login/credentials.ts';
import { isLogin, mailFault } from './mail-fault.ts';

/** `ca`: trusted certificates. Default: those that Node trusts. */
export type ImapLogin = Pick<Config, 'imap_host' | 'imap_port' | 'imap_tls' | 'user'> & {
  credentials: Credentials;
  ca?: readonly string[] | undefined;
};

/** Timeouts of each step, and of a silent connection, ms. IDLE is restarted earlier. */
const patienceMs = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 120_000, maxIdleTime: 60_000 };

export const imapName = ({ imap_host, imap_port }: Pick<Config, 'imap_host' | 'imap_port'>): string =>
  `The IMAP server ${imap_host}:${imap_port}`;

/** Returns a connection that is logged in; the caller closes it. Rejects with a `ServiceError` that names the error. */
export async function connectImap(login: ImapLogin): Promise<ImapFlow> {
  const { imap_host: host, imap_port: port, imap_tls: tls, user, credentials, ca } = login;
  const credential = await credentials.current();
  const client = new ImapFlow({
    host,
    port,
    secure: tls === 'tls',
    ...(tls !== 'tls' && { doSTARTTLS: tls === 'starttls' }),
    auth: 'password' in credential ? { user, pass: credential.password } : { user, accessToken: credential.accessToken },
    ...(ca !== undefined && { tls: { ca: [...ca] } }),
    logger: false,
    ...patienceMs,
  });
  // An error rejects the running command and closes the connection; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    const fault = mailFault(imapName(login), error);
    if (isLogin(fault)) credentials.refused();
    throw fault;
  }
}
