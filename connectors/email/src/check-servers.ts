import { errorText, type StartContext } from '@svc/connector-kit';
import type { Credential } from './mailbox/connect-imap.ts';
import { isOperators } from './mailbox/mail-fault.ts';
import { noteBegin } from './mailbox/note-begin.ts';
import { stateBelow } from '@svc/connector-kit/state/state-below.ts';
import { openMailbox } from './mailbox/open-mailbox.ts';
import type { Config } from './meta.ts';
import { smtpLogin } from './outgoing/create-outgoing.ts';
import { checkSmtp } from './outgoing/send-mail.ts';

/**
 * Looks at each folder, and at the server that sends. Throws for what somebody has to set right; a server that cannot be reached is waited for, once it has
 * worked.
 */
export async function checkServers(ctx: StartContext<Config>, credential: Credential): Promise<void> {
  const { config, state, log, signal } = ctx;
  try {
    for (const folder of config.folders) {
      const mailbox = openMailbox({ ...config, credential }, folder, true);
      await mailbox.opened(); // one at a time: the first fault is enough
      await mailbox.use((client) => noteBegin(client, stateBelow(state, `folder/${folder}/`)));
      mailbox.drop();
    }
    await checkSmtp(smtpLogin(config, credential), signal);
    await state.set('checked', true);
  } catch (error) {
    const hasWorked = (await state.get('checked')) === true;
    if (isOperators(error) || !hasWorked) throw error;
    log('warn', 'the mail servers cannot be reached at the moment', { error: errorText(error) });
  }
}

const isHere = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);

/** What a login must not be sent with, and settings that contradict each other. */
export function checkConfig({ imap_host, imap_tls, smtp_host, smtp_tls, folders }: Config): void {
  const open = [
    ['imap_tls', imap_host, imap_tls],
    ['smtp_tls', smtp_host, smtp_tls],
  ].find(([, host = '', tls]) => tls === 'none' && !isHere(host));
  if (open !== undefined)
    throw new Error(
      `${open[0]}=none would send the password over the network for all to read. Use tls or starttls for ${open[1]}.`,
    );
  const twice = folders.find((folder, at) => folders.indexOf(folder) !== at);
  if (twice !== undefined) throw new Error(`"${twice}" stands twice in folders.`);
}
