import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { freePorts } from '@svc/testing/free-ports.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const program = '/usr/sbin/dovecot';
export const whyNoDovecot = existsSync(program) ? null : 'there is no Dovecot; Debian: apt-get install dovecot-imapd';
export const password = 'the-password-of-the-mailbox';

export type Dovecot = {
  port: number;
  /** Puts a mail into a folder of a user, as a server that delivers it does. */
  put(user: string, mail: string, folder?: string): Promise<void>;
  /** Works on the mailbox of a user. */
  as<T>(user: string, work: (client: ImapFlow) => Promise<T>): Promise<T>;
  /** Stops it and starts it again, on the same port and with the same mails. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** A real IMAP server, on loopback, whose users have all one password. It runs as the user of the tests. */
export async function startDovecot(): Promise<Dovecot> {
  const folder = temporaryFolder();
  const user = userInfo();
  // It refuses to keep mails as root.
  const mail =
    user.uid === 0
      ? { name: 'dovecot', uid: idOf('-u'), gid: idOf('-g') }
      : { name: user.username, uid: user.uid, gid: user.gid };
  const group = execFileSync('id', ['-gn', mail.name], { encoding: 'utf8' }).trim();
  const mails = path.join(folder.path, 'mail');
  mkdirSync(mails);
  chmodSync(folder.path, 0o755);
  if (user.uid === 0) chownSync(mails, mail.uid, mail.gid);
  const [port = 0] = await freePorts(1);
  const file = path.join(folder.path, 'dovecot.conf');
  writeFileSync(file, configOf(folder.path, { ...mail, group }, port));
  let running = await begin(file, port);
  const stop = async (): Promise<void> => {
    running.kill('SIGTERM');
    if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
  };
  const as = async <T>(name: string, work: (client: ImapFlow) => Promise<T>): Promise<T> => {
    const auth = { user: name, pass: password };
    const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth, logger: false });
    client.on('error', () => undefined); // its command rejects
    await client.connect();
    try {
      return await work(client);
    } finally {
      client.close();
    }
  };
  return {
    port,
    as,
    put: (name, text, to = 'INBOX') =>
      as(name, async (client) => void (await client.append(to, text.replaceAll(/\r?\n/g, '\r\n')))),
    async restart() {
      await stop();
      running = await begin(file, port);
    },
    async stop() {
      await stop();
      folder.remove();
    },
  };
}

const idOf = (which: string): number => Number(execFileSync('id', [which, 'dovecot'], { encoding: 'utf8' }));

async function begin(file: string, port: number) {
  const child = spawn(program, ['-F', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => void (said += data.toString()));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`Dovecot has ended: ${said}`)));
  ended.catch(() => undefined); // it ends with its test
  const until = Date.now() + 20_000;
  while (!(await Promise.race([greets(port), ended]))) {
    if (Date.now() > until) throw new Error(`Dovecot does not come up: ${said}`);
    await pause(50);
  }
  return child;
}

const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('data', () => socket.destroy());
    socket.on('close', (hadError) => resolve(!hadError && socket.bytesRead > 0));
  });

const configOf = (dir: string, mail: { name: string; uid: number; gid: number; group: string }, port: number): string => `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
mail_location = maildir:${dir}/mail/%u
first_valid_uid = 1
first_valid_gid = 1
default_internal_user = ${mail.name}
default_internal_group = ${mail.group}
default_login_user = ${mail.name}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = create
  }
  mailbox Work {
    auto = create
  }
}
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${mail.uid} gid=${mail.gid} home=${dir}/mail/%u allow_all_users=yes
}
${['anvil', 'stats', 'imap'].map((name) => `service ${name} {\n  chroot =\n}`).join('\n')}
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
`;
