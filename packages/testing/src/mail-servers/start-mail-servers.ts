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
  /** Five ports on loopback; free ones by default. */
  ports?: DovecotPorts & { smtp: number };
  /** The refusal of a recipient, in place of accepting the mail. */
  refused?: Readonly<Record<string, string>>;
  /** Mailboxes that are always full. */
  full?: readonly string[];
};

/** Dovecot and OpenSMTPD for any address, each with its own mailbox and all with the same password. */
export type MailServers = {
  /** `imap` and `smtp` without encryption and, on `smtp`, without login; `imaps` and `submission` with both. */
  ports: DovecotPorts & { smtp: number };
  password: string;
  /** PEM file of the self-signed certificate. */
  certFile: string;
  /** Delivers a mail to the INBOX of a user. `from`: its SMTP sender, empty by default. Rejects with the text of the refusal. */
  deliver(user: string, raw: Buffer | string, from?: string): Promise<void>;
  /** The complete mails of a folder, in order. */
  read(user: string, folder?: string): Promise<KeptMail[]>;
  /** The mails of a user's INBOX, read from the disk: faster for many users. */
  kept(user: string): { file: string; raw(): Buffer }[];
  /** Restarts the IMAP server. */
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
