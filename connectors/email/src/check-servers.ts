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
 * Checks each folder and the SMTP server. Throws errors that the operator must fix; servers that worked before and are unreachable now are
 * waited for. Resolves with the error of the SMTP server, if there is one; an error of the IMAP server appears as soon as a folder is
 * followed.
 */
export async function checkServers(ctx: StartContext<Config>, access: MailAccess): Promise<unknown> {
  const { config, state, log, signal } = ctx;
  let smtpFault: unknown;
  try {
    const begins: [folder: string, Begin | null][] = [];
    for (const folder of config.folders) {
      const mailbox = openMailbox({ ...config, ...access }, folder, true);
      try {
        begins.push([folder, beginOf(await mailbox.opened())]); // one at a time: the first error is enough
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
    // `true` was stored by an earlier version, which did not name the servers.
    const haveWorked = checked === true || checked === serversOf(config);
    if (isOperators(error) || !haveWorked) throw error;
    log('warn', 'the mail servers cannot be reached at the moment; retrying', { error: errorText(error) });
  }
  return smtpFault;
}

const serversOf = ({ user, imap_host, imap_port, smtp_host, smtp_port }: Config): string =>
  `${user} ${imap_host}:${imap_port} ${smtp_host}:${smtp_port}`;

const isHere = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);

/** Refuses connections over which no login may be sent, and contradictory settings. */
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
