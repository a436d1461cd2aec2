import type { Certificate } from './certificate.ts';

export type DovecotPorts = { imap: number; imaps: number; lmtp: number; submission: number };

export type DovecotConfig = Certificate & {
  dir: string;
  ports: DovecotPorts;
  /** Where submitted mail is relayed to. */
  relayPort: number;
  password: string;
  /** Mailboxes with a quota of one kilobyte. */
  full: readonly string[];
};

/** Each user has their own mailbox, and all have the same password. A mailbox is created when it is first used. */
export const dovecotConfig = ({ dir, ports, relayPort, certFile, keyFile, password }: DovecotConfig): string => `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
log_timestamp = "%Y-%m-%dT%H:%M:%S "
protocols = imap lmtp submission
listen = 127.0.0.1
ssl = yes
ssl_cert = <${certFile}
ssl_key = <${keyFile}
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_username_format = %Lu
auth_failure_delay = 0
mail_location = maildir:${dir}/mail/%u
mail_fsync = never
mail_max_userip_connections = 100
mail_plugins = quota
first_valid_uid = 1
first_valid_gid = 1
postmaster_address = postmaster@home.example
submission_relay_host = 127.0.0.1
submission_relay_port = ${relayPort}
submission_max_mail_size = 60 M
recipient_delimiter =
lmtp_save_to_detail_mailbox = no
quota_full_tempfail = no
namespace inbox {
  inbox = yes
  separator = /
  mailbox Sent {
    special_use = \\Sent
    auto = create
  }
  mailbox Work {
    auto = create
  }
}
plugin {
  quota = count:User quota
  quota_rule = *:storage=0
  quota_vsizes = yes

}
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = passwd-file
  args = username_format=%u ${dir}/full
}
userdb {
  driver = static
  args = uid=dovecot gid=dovecot home=${dir}/mail/%u allow_all_users=yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
service submission-login {
  chroot =
  inet_listener submission {
    port = 0
  }
  inet_listener submissions {
    port = ${ports.submission}
    ssl = yes
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${ports.lmtp}
  }
}
${['anvil', 'stats', 'imap'].map((name) => `service ${name} {\n  chroot =\n}`).join('\n')}
`;

/** The file of users whose mailbox is full at once. */
export const fullUsers = ({ dir, full }: Pick<DovecotConfig, 'dir' | 'full'>, uid: number, gid: number): string =>
  full.map((user) => `${user}::${uid}:${gid}::${dir}/mail/${user}::userdb_quota_rule=*:bytes=1\n`).join('');
