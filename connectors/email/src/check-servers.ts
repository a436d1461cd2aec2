import { errorText, type StartContext } from '@svc/connector-kit';
import type { MailAccess } from './login/mail-access.ts';
import { isOperators } from './mailbox/mail-fault.ts';
import { folderState, forgetOthers } from './mailbox/forget-others.ts';
import { beginOf, noteBegin, type Begin } from './mailbox/note-begin.ts';
import { openMailbox } from './mailbox/open-mailbox.ts';
import type { Config } from './meta.ts';
import { smtpLogin } from './outgoing/create-outgoing.ts';
import { checkSmtp } from './outgoing/send-mail.ts';

/**
 * Looks at each folder, and at the server that sends. Throws for what an operator has to fix; servers that cannot be reached are waited for, once these
 * have worked. Resolves with the fault of the one that sends where there is one; that of the other shows as soon as a folder is followed.
 */
export async function checkServers(ctx: StartContext<Config>, access: MailAccess): Promise<unknown> {
  const { config, state, log, signal } = ctx;
  let smtpFault: unknown;
  try {
    const begins: [folder: string, Begin | null][] = [];
    for (const folder of config.folders) {
      const mailbox = openMailbox({ ...config, ...access }, folder, true);
      try {
        begins.push([folder, beginOf(await mailbox.opened())]); // one at a time: the first fault is enough
      } finally {
        mailbox.drop();
      }
    }
    await forgetOthers(ctx);
    for (const [folder, begin] of begins) await noteBegin(begin, folderState(state, folder));
    await checkSmtp(smtpLogin(config, access), signal).catch((error: unknown) => {
      smtpFault = error;
      throw error;
    });
    await state.set('checked', serversOf(config));
  } catch (error) {
    const checked = await state.get('checked');
    // Before servers were named here, it was only said that some had worked.
    const haveWorked = checked === true || checked === serversOf(config);
    if (isOperators(error) || !haveWorked) throw error;
    log('warn', 'the mail servers cannot be reached at the moment; retrying', { error: errorText(error) });
  }
  return smtpFault;
}

const serversOf = ({ user, imap_host, imap_port, smtp_host, smtp_port }: Config): string =>
  `${user} ${imap_host}:${imap_port} ${smtp_host}:${smtp_port}`;

const isHere = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);

/** What a login must not be sent with, and settings that contradict each other. */
export function checkConfig({
  imap_host,
  imap_tls,
  smtp_host,
  smtp_tls,
  folders,
  login,
  oauth_token_url,
  oauth_client_id,
}: Config): void {
  const open = [
    ['imap_tls', imap_host, imap_tls],
    ['smtp_tls', smtp_host, smtp_tls],
  ].find(([, host = '', tls]) => tls === 'none' && !isHere(host));
  if (open !== undefined)
    throw new Error(`${open[0]}=none would send the password over the network unencrypted. Use tls or starttls for ${open[1]}.`);
  if (login === 'xoauth2' && oauth_token_url !== '' && oauth_client_id === '')
    throw new Error('oauth_token_url also needs oauth_client_id, the client that the refresh token was issued to.');
  if (oauth_token_url.startsWith('http:') && !isHere(new URL(oauth_token_url).hostname))
    throw new Error('oauth_token_url would send the refresh token over the network unencrypted. Use https.');
  const twice = folders.find((folder, at) => folders.indexOf(folder) !== at);
  if (twice !== undefined) throw new Error(`"${twice}" is listed twice in folders.`);
}
