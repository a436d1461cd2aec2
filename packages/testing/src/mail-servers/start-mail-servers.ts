import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '../free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { makeCertificate } from './certificate.ts';
import { deliverMail } from './deliver-mail.ts';
import type { DovecotPorts } from './dovecot-config.ts';
import { readMailbox, type KeptMail } from './read-mailbox.ts';
import { startDovecot } from './start-dovecot.ts';
import { startOpensmtpd } from './start-opensmtpd.ts';

export type MailServersOptions = {
  /** Five ports of loopback; free ones unless given. */
  ports?: DovecotPorts & { smtp: number };
  /** What is said to a recipient in the place of taking the mail. */
  refused?: Readonly<Record<string, string>>;
  /** Mailboxes that can hold nothing. */
  full?: readonly string[];
};

/** Dovecot and OpenSMTPD for all addresses there are, each with a mailbox and all with one password. */
export type MailServers = {
  /** `imap` and `smtp` without encryption and, on `smtp`, without login; `imaps` and `submission` with both. */
  ports: DovecotPorts & { smtp: number };
  password: string;
  /** PEM file of the certificate, which vouches for itself. */
  certFile: string;
  /** Puts a mail into the INBOX of a user, as a server that delivers it does. `from`: its sender by SMTP, nobody unless given. Rejects with the words of the refusal. */
  deliver(user: string, raw: Buffer | string, from?: string): Promise<void>;
  /** The mails of a folder, whole, in order. */
  read(user: string, folder?: string): Promise<KeptMail[]>;
  /** The mails of the INBOX of a user as they lie on the disk: for many users at once. */
  kept(user: string): { file: string; raw(): Buffer }[];
  /** Ends the IMAP server and starts it again. */
  restartImap(): Promise<void>;
  /** The last lines of both logs. */
  log(): string;
  stop(): Promise<void>;
};

const password = 'the-password-of-every-mailbox';

export async function startMailServers(options: MailServersOptions = {}): Promise<MailServers> {
  const { refused = {}, full = [], ports = await anyPorts() } = options;
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o711); // neither server works as who has started it
  const dirs = { dovecot: path.join(folder.path, 'dovecot'), smtpd: path.join(folder.path, 'smtpd') };
  for (const dir of Object.values(dirs)) mkdirSync(dir);
  const certificate = makeCertificate(folder.path);
  const { smtp, ...dovecotPorts } = ports;
  const [dovecot, opensmtpd] = await Promise.allSettled([
    startDovecot({ dir: dirs.dovecot, ports: dovecotPorts, relayPort: smtp, password, full, ...certificate }),
    startOpensmtpd({ dir: dirs.smtpd, port: smtp, lmtpPort: ports.lmtp, hostname: 'mx.home.example', refused }),
  ]);
  const stop = async (): Promise<void> => {
    const running = [dovecot, opensmtpd].flatMap((each) => (each.status === 'fulfilled' ? [each.value.stop()] : []));
    await Promise.all(running);
    folder.remove();
  };
  if (dovecot.status === 'rejected' || opensmtpd.status === 'rejected') {
    await stop();
    throw dovecot.status === 'rejected' ? dovecot.reason : (opensmtpd as PromiseRejectedResult).reason;
  }
  return {
    ports,
    password,
    certFile: certificate.certFile,
    deliver: (user, raw, from) => deliverMail(ports.lmtp, user, raw, from),
    read: (user, name = 'INBOX') => readMailbox({ port: ports.imap, user, password }, name),
    kept: (user) => mailsIn(path.join(dirs.dovecot, 'mail', user.toLowerCase())),
    restartImap: () => dovecot.value.restart(),
    log: () => `${dovecot.value.log()}\n${opensmtpd.value.log()}`,
    stop,
  };
}

/** A Maildir: a file for each mail, whose name before the colon stays. */
const mailsIn = (maildir: string): { file: string; raw(): Buffer }[] =>
  ['new', 'cur']
    .map((name) => path.join(maildir, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder).map((name) => ({ file: name.split(':')[0] ?? name, raw: () => readFileSync(path.join(folder, name)) })),
    );

async function anyPorts(): Promise<DovecotPorts & { smtp: number }> {
  const [imap, imaps, lmtp, submission, smtp] = (await freePorts(5)) as [number, number, number, number, number];
  return { imap, imaps, lmtp, submission, smtp };
}
