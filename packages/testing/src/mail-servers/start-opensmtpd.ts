import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { programs } from './mail-programs.ts';
import { startOwnProgram, type OwnProgram } from './own-program.ts';
import { idOf } from './start-dovecot.ts';

export type OpensmtpdConfig = {
  dir: string;
  port: number;
  lmtpPort: number;
  hostname: string;
  /** The refusal of a recipient, in place of accepting the mail, such as `550 5.1.1 No such user`. */
  refused: Readonly<Record<string, string>>;
};

/**
 * A real SMTP server, which accepts mail for everyone and delivers it by LMTP. It has no encryption, which fails in Debian's build with its OpenSSL,
 * so logins go through Dovecot's submission server in front of it.
 */
export async function startOpensmtpd(config: OpensmtpdConfig): Promise<OwnProgram> {
  const file = path.join(config.dir, 'smtpd.conf');
  writeFileSync(file, configText(config), { mode: 0o600 });
  // Its queue and its control socket have fixed paths. It gets empty mounts there, so that it meets no other instance and leaves nothing behind.
  // The queue's folder exists only where the package's service was started once, so its parent gets the mount.
  const covered =
    'mount -t tmpfs none /run && mount -t tmpfs none /var/spool && mkdir -m 0711 /var/spool/smtpd && exec "$1" -d -f "$2"';
  return startOwnProgram({
    name: 'OpenSMTPD',
    command: [programs.unshare, '--mount', '--propagation', 'private', 'sh', '-c', covered, 'sh', programs.smtpd, file],
    logFile: path.join(config.dir, 'smtpd.log'),
    ports: [config.port],
  });
}

function configText({ dir, port, lmtpPort, hostname, refused }: OpensmtpdConfig): string {
  const filters = Object.entries(refused).map(
    ([address, words], n) => `filter "no${n}" phase rcpt-to match rcpt-to { "${address}" } reject "${words}"`,
  );
  const chain = `filter "refusals" chain { ${filters.map((_, n) => `"no${n}"`).join(', ')} }`;
  return [
    'smtp max-message-size 60M',
    'table everybody { "@" = "dovecot" }',
    `table homes { "dovecot" = "${idOf('-u', 'dovecot')}:${idOf('-g', 'dovecot')}:${dir}" }`,
    ...(filters.length > 0 ? [...filters, chain] : []),
    `listen on 127.0.0.1 port ${port} hostname "${hostname}"${filters.length > 0 ? ' filter "refusals"' : ''}`,
    `action "deliver" lmtp "127.0.0.1:${lmtpPort}" rcpt-to virtual <everybody> userbase <homes>`,
    'match from any for any action "deliver"',
    '',
  ].join('\n');
}
