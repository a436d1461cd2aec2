import { hash } from 'node:crypto';
import type { Ingress, StartContext } from '@svc/connector-kit';
import { errorText } from '@svc/connector-kit';
import { isPassing } from '@svc/connector-kit/ingress/passing-faults.ts';
import { mostOfHeader, type ListedMail } from '../mailbox/follow-folder.ts';
import type { Config } from '../meta.ts';
import type { Threads } from '../threads.ts';
import { headerText } from './guess-charset.ts';
import { readHeaders, valueOf, type MailHeaders } from './mail-headers.ts';
import { neverAnswered } from './never-answered.ts';
import { readSubject } from './read-body.ts';
import { threadIds } from './thread-ids.ts';
import { toEnvelope, type EnvelopeDeps } from './to-envelope.ts';
import { verifiedSender, type OwnServer } from './verified-sender.ts';

export type TakeDeps = EnvelopeDeps &
  Pick<StartContext<Config>, 'config' | 'log'> & { ingress: Pick<Ingress, 'take'>; threads: Threads };

/**
 * Passes one mail on, or logs why it is not answered. Resolves when the mail may be acknowledged; rejects when it must be delivered again.
 * `read`: returns the mail, up to a number of bytes. `done`: called with an accepted mail.
 */
export async function takeMail(
  deps: TakeDeps,
  mail: ListedMail & { folder: string },
  read: (mostBytes: number) => Promise<Buffer>,
  done: () => Promise<void>,
): Promise<void> {
  const { config, log, threads, ingress } = deps;
  const { uid, folder, bytes, arrivedAt } = mail;
  const skip = (reason: string, from: string | null): void =>
    log('info', 'mail is not answered', { folder, uid, ...(from !== null && { from }), reason });
  try {
    if (mail.header.length >= mostOfHeader) return skip(`its header is longer than ${mostOfHeader / 1024} KB`, null);
    const headers = readHeaders(mail.header.toString('utf8'));
    const { address, why } = verifiedSender(headers, ownServerOf(config));
    const never = neverAnswered(headers, address, [config.address.toLowerCase()]);
    if (never !== null) return skip(never, address);
    if (address === null || why !== null) return skip(`its sender is not verified: ${why ?? 'it names none'}`, address);
    const name = nameOf(headers, mail.header);
    const subject = await readSubject(valueOf(readHeaders(headerText(mail.header)), 'subject') ?? '');
    const thread = await threads.place({ sender: address, name, subject, ids: threadIds(headers), arrivedAt });
    if (thread === null)
      return skip(`its thread already has ${config.thread_budget} messages within an hour (thread_budget)`, address);
    await ingress.take(thread.target, name, (signal) => toEnvelope(deps, { thread, name, subject, bytes, read }, signal));
    await done();
  } catch (error) {
    if (isPassing(error)) throw error;
    log('error', 'a message could not be processed and was skipped', { folder, uid, error: errorText(error) });
  }
}

const ownServerOf = ({ authserv_id, received_hops, authserv_place }: Config): OwnServer => ({
  server: authserv_id,
  hops: received_hops,
  place: authserv_place,
});

/** The same in every folder, whatever its UID there. Includes a hash, because some programs give all their mails the same Message-ID. */
function nameOf(headers: MailHeaders, raw: Buffer): string {
  const id = valueOf(headers, 'message-id');
  const said =
    id === undefined ? [raw.toString('latin1')] : ['from', 'date', 'subject'].map((name) => valueOf(headers, name) ?? '');
  return `mail:${hash('sha256', JSON.stringify([id ?? null, ...said]), 'hex').slice(0, 40)}`;
}
