import { counted } from '@svc/service-kit/words.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import { showCode } from './pairing-code.ts';
import { createPairingCodes } from './pairing-codes.ts';
import { createPendingSenders, hasLiveCode } from './pending-senders.ts';
import { createPendingStore, type PendingRow } from './pending-store.ts';

type Noted = Pick<Envelope, 'channel' | 'sender' | 'public' | 'delivery' | 'intake'>;
type Deps = { db: Database; clock: Clock; ids: Ids; log: Pick<Log, 'error'> };

/** Senders without access, and the codes they were given. */
export interface Pending {
  /**
   * Records a denied sender; called for every denied envelope. Returns the sentence to add to "no access" where the
   * instance pairs and only the sender sees the answer, else null. A sender who is denied for any other reason than
   * being unknown is not recorded and gets no code.
   */
  note(envelope: Noted, identity: Pick<Identity, 'denial'>): string | null;
  /** The waiting senders, the most recent first. */
  list(): Promise<PendingIdentity[]>;
  /** @throws ServiceError `not_found` */
  read(id: string): PendingRow;
  /** Forgets a sender; when they write again they are recorded again. */
  remove(row: PendingRow): void;
  findByCode(text: string): PendingRow | undefined;
  close(): Promise<void>;
}

/** Opens the list of unknown senders who wrote and were denied, with the codes by which they can be let in. */
export async function openPending({ db, clock, ids, log }: Deps): Promise<Pending> {
  const senders = await createPendingSenders({ store: createPendingStore(db), clock, ids, log });
  const codes = createPairingCodes(senders, clock);
  return {
    note(envelope: Noted, identity: Pick<Identity, 'denial'>): string | null {
      // Text that is not well-formed Unicode would be stored as different text, so a code could let in another sender.
      if (identity.denial !== 'unknown_sender' || !envelope.sender.raw_id.isWellFormed()) return null;
      // A public room may have more strangers than the list has rows.
      if (envelope.public === true && envelope.intake?.quiet_strangers === true) return null;
      const row = senders.see(envelope);
      const isAnswered = envelope.public !== true && envelope.delivery !== 'async';
      const code = isAnswered && envelope.intake?.pairing === true ? codes.codeFor(row) : null;
      return code === null ? null : pairingSentence(code, (row.code_expires_at ?? 0) - clock.now());
    },

    async list(): Promise<PendingIdentity[]> {
      await senders.settle();
      return senders
        .all()
        .toReversed()
        .map((row) => toPendingIdentity(row, clock.now()));
    },

    read(id: string): PendingRow {
      const row = senders.find(id);
      if (row === undefined) throw notFound('waiting sender', id);
      return row;
    },

    remove(row: PendingRow): void {
      codes.release(row);
      senders.remove(row);
    },

    findByCode: (text: string): PendingRow | undefined => codes.find(text),

    close: () => senders.close(),
  };
}

function pairingSentence(code: string, lifeMs: number): string {
  const minutes = Math.ceil(lifeMs / 60_000);
  return `To get access, give this code to the person who runs this assistant within ${counted(minutes, 'minute')}: ${showCode(code)}`;
}

function toPendingIdentity({ codes_given: _given, codes_since: _since, ...row }: PendingRow, now: number): PendingIdentity {
  const isLive = hasLiveCode(row as PendingRow, now);
  return {
    ...row,
    code: isLive && row.code !== null ? showCode(row.code) : null,
    code_expires_at: isLive ? row.code_expires_at : null,
  };
}
