import { followUpdates, systemClock, type Clock, type ConnectorState, type StartContext } from '@svc/connector-kit';
import type { ImapFlow } from 'imapflow';
import type { Begin } from './note-begin.ts';
import type { Mailbox } from './open-mailbox.ts';

/** A mail as its folder lists it, with only its header, of which only the beginning is read. `arrivedAt`: epoch ms. */
export type ListedMail = { validity: string; uid: number; bytes: number; header: Buffer; arrivedAt: number };

export type FolderOptions = {
  mailbox: Mailbox;
  /** State of this folder only. */
  state: ConnectorState;
  take(mail: ListedMail): Promise<void>;
  log: StartContext['log'];
  signal: AbortSignal;
  onProblem(problem: string | null): void;
  clock?: Clock;
};

/** Maximum number of mails listed at once; only their headers are held. */
const most = 50;
/**
 * How much of a header is read, bytes. Anyone can send a mail that consists of its header: a few of them would take longer than a poll may,
 * and no other mail would be read.
 */
export const mostOfHeader = 256 * 1024;
/**
 * When the server has renumbered a folder's mails, mail from this long before the newest known one is checked again, ms. IMAP searches by
 * whole days.
 */
const overlapMs = 2 * 24 * 60 * 60_000;

/**
 * Follows the new mail of a folder in the order of its UIDs, across restarts. Mail that is there when the folder is first followed counts
 * as old. When the server has renumbered the folder (UIDVALIDITY), only recent mail is delivered again. Never rejects.
 */
export function followFolder(options: FolderOptions): Promise<void> {
  const { mailbox, state, take, log, signal, onProblem, clock = systemClock } = options;
  let isPolling = false;

  async function poll(after: string | number | null, waitMs: number, stopped: AbortSignal): Promise<ListedMail[]> {
    // A poll that was given up may still hang in its connection.
    if (isPolling) mailbox.drop();
    isPolling = true;
    try {
      const client = await mailbox.opened();
      const { validity, uid } = await beginOf(client, readPlace(after));
      const bell = listen(client);
      try {
        const found = await list(client, validity, uid);
        if (found.length > 0 || waitMs === 0) return await noted(found);
        await bell.rung(waitMs, stopped);
        return await noted(await list(client, validity, uid));
      } finally {
        bell.end();
      }
    } catch (error) {
      mailbox.drop();
      throw error;
    } finally {
      isPolling = false;
    }
  }

  async function beginOf(client: ImapFlow, passed: Begin | null): Promise<Begin> {
    if (client.mailbox === false) throw new Error('The folder is not open.');
    const validity = String(client.mailbox.uidValidity);
    if (passed?.validity === validity) return passed;
    const begun = (await state.get<Begin>('begin')) ?? null;
    if (begun?.validity === validity) return begun;
    const newest = await state.get<number>('newest');
    const isFirst = begun === null && passed === null;
    const next = client.mailbox.uidNext - 1;
    const uid = isFirst || newest === undefined ? next : await lastBefore(client, newest - overlapMs, next);
    if (!isFirst)
      log('warn', 'the mail server has renumbered the messages of a folder; recent ones are checked again', { after: uid });
    const begin = { validity, uid };
    await state.set('begin', begin);
    return begin;
  }

  /** Stores arrival times, which show what is old after the folder was renumbered. */
  async function noted(found: ListedMail[]): Promise<ListedMail[]> {
    const known = (await state.get<number>('newest')) ?? 0;
    const newest = Math.max(known, ...found.map(({ arrivedAt }) => arrivedAt));
    if (newest > known) await state.set('newest', newest);
    return found;
  }

  const listen = (client: ImapFlow) => {
    const heard = Promise.withResolvers<void>();
    const ring = () => heard.resolve();
    client.on('exists', ring);
    client.on('close', ring);
    return {
      async rung(waitMs: number, stopped: AbortSignal) {
        const cancel = clock.after(waitMs, ring);
        stopped.addEventListener('abort', ring, { once: true });
        // The next command ends IDLE; an error closes the connection, which is noticed.
        client.idle().catch(ring);
        await heard.promise;
        cancel();
        stopped.removeEventListener('abort', ring);
      },
      end() {
        client.off('exists', ring);
        client.off('close', ring);
      },
    };
  };

  return followUpdates<ListedMail>({
    poll,
    cursorOf: ({ validity, uid }) => `${validity}:${uid}`,
    take,
    state,
    signal,
    log,
    onProblem,
    clock,
    everyMs: 0, // `poll` waits for it
  }).finally(() => mailbox.drop());
}

/** Uses `fetchAll`: a command during another running fetch would wait for it, and the fetch for the command. */
async function list(client: ImapFlow, validity: string, after: number): Promise<ListedMail[]> {
  const uids = (await client.search({ uid: `${after + 1}:*` }, { uid: true })) || [];
  // "*" means the last mail, even when it is below the start of the range.
  const fresh = uids.filter((uid) => uid > after).toSorted((one, other) => one - other);
  if (fresh.length === 0) return [];
  const header = { key: 'HEADER', start: 0, maxLength: mostOfHeader };
  const wanted = { uid: true, size: true, internalDate: true, bodyParts: [header] };
  const found = await client.fetchAll(fresh.slice(0, most).join(','), wanted, { uid: true });
  return found
    .map(({ uid, size = 0, headers, internalDate }) => ({
      validity,
      uid,
      bytes: size,
      header: headers ?? Buffer.alloc(0),
      arrivedAt: new Date(internalDate ?? 0).getTime() || 0,
    }))
    .toSorted((one, other) => one.uid - other.uid);
}

async function lastBefore(client: ImapFlow, time: number, last: number): Promise<number> {
  const uids = (await client.search({ since: new Date(time) }, { uid: true })) || [];
  return Math.min(last, ...uids.map((uid) => uid - 1));
}

function readPlace(place: string | number | null): Begin | null {
  const [, validity, uid] = /^(\d+):(\d+)$/.exec(String(place)) ?? [];
  return validity === undefined ? null : { validity, uid: Number(uid) };
}
