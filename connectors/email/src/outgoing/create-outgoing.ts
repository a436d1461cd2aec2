import {
  createReplyWriter,
  systemClock,
  type Clock,
  type Envelope,
  type ReplyWriter,
  type StartContext,
} from '@svc/connector-kit';
import type { MailAccess } from '../login/mail-access.ts';
import type { Config } from '../meta.ts';
import type { Threads } from '../threads.ts';
import { isInSent } from './find-sent.ts';
import { createReadFiles } from './read-files.ts';
import { createReplyPlatform } from './reply-platform.ts';
import { checkSmtp, sendMail, type SmtpLogin } from './send-mail.ts';
import { openSentMails } from './sent-mails.ts';
import { watchSmtp } from './watch-smtp.ts';

type Deps = Pick<StartContext<Config>, 'state' | 'log' | 'signal' | 'config' | 'assistantName' | 'uploads'> & {
  access: MailAccess;
  threads: Threads;
  /** The error of the SMTP server at the start. */
  smtpFault?: unknown;
  clock?: Clock;
};

/** The outgoing side. `problem`: why nothing can be sent at the moment; null when all is well. */
export type Outgoing = ReplyWriter & { problem(): string | null };

export const smtpLogin = ({ smtp_host, smtp_port, smtp_tls, user }: Config, access: MailAccess): SmtpLogin => ({
  host: smtp_host,
  port: smtp_port,
  tls: smtp_tls,
  user,
  ...access,
});

const mb = 1024 * 1024;
/** Time for a large mail on a slow line, ms. */
const longestSendMs = 120_000;

export async function createOutgoing(deps: Deps): Promise<Outgoing> {
  const { state, log, signal, config, access, threads, assistantName, uploads, clock = systemClock } = deps;
  const login = smtpLogin(config, access);
  const { address, sent_folder: sentFolder, copy_to_self: isCopied, folders } = config;
  const places = { sentFolder, copyFolders: isCopied ? folders : [] };
  const watch = watchSmtp({ check: (ended) => checkSmtp(login, ended), clock, signal });
  if (deps.smtpFault !== undefined) watch.ended(deps.smtpFault);
  const platform = createReplyPlatform({
    address,
    copyTo: isCopied ? address : '',
    readFiles: createReadFiles({ uploads, maxBytes: config.max_file_mb * mb }),
    assistantName,
    threads,
    sent: await openSentMails(state, clock.now),
    isInSent: (id) => isInSent({ ...config, ...access }, places, id, clock),
    async send(mail) {
      try {
        await sendMail(login, mail);
        watch.ended();
      } catch (error) {
        watch.ended(error);
        throw error;
      }
    },
  });
  const writer = createReplyWriter({
    ...platform,
    state,
    log,
    signal,
    clock,
    limit: 100_000,
    style: 'final',
    unsure: 'repeat',
    callMs: longestSendMs,
    chatOf: targetOf,
  });
  return { ...writer, problem: watch.problem };
}

function targetOf({ channel_context }: Envelope): string {
  const target = channel_context?.['target'];
  if (typeof target === 'string') return target;
  throw new Error('An envelope names no thread in its channel_context.');
}
