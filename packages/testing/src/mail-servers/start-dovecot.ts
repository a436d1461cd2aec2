import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dovecotConfig, fullUsers, type DovecotConfig } from './dovecot-config.ts';
import { programs } from './mail-programs.ts';
import { startOwnProgram } from './own-program.ts';

export type Dovecot = {
  /** The last lines of its log. */
  log(): string;
  /** Restarts it on the same ports and with the same mails. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** A real IMAP server, with LMTP for incoming mail and a submission server for outgoing mail. */
export async function startDovecot(config: DovecotConfig): Promise<Dovecot> {
  const { dir, ports } = config;
  const [uid, gid] = [idOf('-u', 'dovecot'), idOf('-g', 'dovecot')];
  chmodSync(dir, 0o711);
  mkdirSync(path.join(dir, 'mail'));
  chownSync(path.join(dir, 'mail'), uid, gid); // it refuses to keep mails as root
  writeFileSync(path.join(dir, 'full'), fullUsers(config, uid, gid));
  const file = path.join(dir, 'dovecot.conf');
  writeFileSync(file, dovecotConfig(config));
  const begin = () =>
    startOwnProgram({
      name: 'Dovecot',
      command: [programs.dovecot, '-F', '-c', file],
      logFile: path.join(dir, 'dovecot.out'),
      ports: Object.values(ports),
    });
  let running = await begin();
  return {
    log: () => readFileSync(path.join(dir, 'dovecot.log'), 'utf8').slice(-8000) + running.log(),
    async restart() {
      await running.stop();
      running = await begin();
    },
    stop: () => running.stop(),
  };
}

export const idOf = (which: '-u' | '-g', user: string): number => Number(execFileSync('id', [which, user], { encoding: 'utf8' }));
