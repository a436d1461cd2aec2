import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mailbox, ownServer } from '@svc/testing/mail-corpus/corpus-mail.ts';
import { startMailServers, type MailServers, type MailServersOptions } from '@svc/testing/mail-servers/start-mail-servers.ts';
import { startCutProxy } from '@svc/testing/start-cut-proxy.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openKillableService, type KillableService } from '../channel-killed/killable-service.ts';

/** The service with one mailbox on real mail servers, over connections that can be cut. */
export type EmailService = KillableService & {
  servers: MailServers;
  /** The connector's log. */
  log(): string;
};

type Options = {
  /** Addresses that are let in, each as a separate person. */
  people: readonly string[];
  /** The script module of the offline engine. */
  script: string;
  config?: object;
  mail?: MailServersOptions;
};

export async function openEmailService({ people, script, config = {}, mail = {} }: Options): Promise<EmailService> {
  const folder = temporaryFolder();
  const servers = await startMailServers(mail);
  const lines = await Promise.all([servers.ports.imap, servers.ports.smtp].map(startCutProxy));
  const closeServers = async () => {
    await Promise.all(lines.map((line) => line.close()));
    await servers.stop();
    folder.remove();
  };
  const principals = people.map((value, n) => ({
    key: `person-${n}`,
    role: 'trusted',
    identifiers: [{ surface: 'email', value }],
  }));
  const write = (name: string, text: string) => writeFileSync(path.join(folder.path, name), text, { mode: 0o600 });
  write('script.mjs', script);
  write('secrets.json', JSON.stringify({ PASSWORD: servers.password }));
  write('trust.seed.json', JSON.stringify({ principals }));
  try {
    const service = await openKillableService({
      dataDir: folder.path,
      type: 'email',
      config: {
        address: mailbox,
        user: mailbox,
        password_secret_key: 'PASSWORD',
        imap_host: '127.0.0.1',
        imap_port: lines[0]?.port,
        smtp_host: '127.0.0.1',
        smtp_port: lines[1]?.port,
        imap_tls: 'none',
        smtp_tls: 'none',
        authserv_id: ownServer,
        received_hops: 2,
        thread_budget: 1000,
        ...config,
      },
      env: { SVC_OFFLINE_SCRIPT: path.join(folder.path, 'script.mjs'), SVC_COMPAT_PORT: '0' },
      cutConnections: () => lines.forEach((line) => line.cut()),
    });
    const logs = path.join(folder.path, 'logs');
    const ownLogs = () => readdirSync(logs).filter((name) => name.startsWith('instance-email'));
    return {
      ...service,
      servers,
      log: () =>
        ownLogs()
          .map((name) => readFileSync(path.join(logs, name), 'utf8'))
          .join(''),
      close: () => service.close().then(closeServers),
    };
  } catch (error) {
    await closeServers();
    throw error;
  }
}
