import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { spawnSync } from 'node:child_process';

export const programs = {
  dovecot: '/usr/sbin/dovecot',
  lmtp: '/usr/lib/dovecot/lmtp',
  imap: '/usr/lib/dovecot/imap',
  submission: '/usr/lib/dovecot/submission',
  smtpd: '/usr/sbin/smtpd',
  openssl: '/usr/bin/openssl',
  setpriv: '/usr/bin/setpriv',
  unshare: '/usr/bin/unshare',
} as const;

/** The Debian packages that contain them. */
export const mailPackages = ['dovecot-imapd', 'dovecot-lmtpd', 'dovecot-submissiond', 'opensmtpd'] as const;

/** Why the mail servers cannot be started on this machine; null when they can. */
export function whyNoMailServers(): string | null {
  const missing = Object.values(programs).filter((program) => !existsSync(program));
  if (missing.length > 0) return `${missing.join(', ')} not there; apt-get install ${mailPackages.join(' ')}`;
  if (userInfo().uid !== 0) return 'OpenSMTPD works as root alone';
  // Its queue and its socket have fixed paths, over which it gets private mounts.
  const tried = spawnSync(programs.unshare, ['--mount', 'true'], { stdio: 'ignore' });
  return tried.status === 0 ? null : 'no mount namespace can be made here, in which OpenSMTPD has a queue of its own';
}
