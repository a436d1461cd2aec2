import type { LinkResult } from '@svc/contract/pairing.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { createGuessThrottle } from './guess-throttle.ts';
import { linkIdentity, type LinkTarget } from './link-identity.ts';
import type { Pending } from './pending.ts';
import { createPendingStore, type PendingRow } from './pending-store.ts';
import type { TrustService } from './trust-service.ts';
import { createTrustStore } from './trust-store.ts';

/** What the operator says with a code. `as` is a principal there is; `role` and `name` are of a new one. */
export type PairRequest = { code: string; as?: string; role?: string; name?: string };

type Deps = {
  db: Database;
  pending: Pending;
  trust: Pick<TrustService, 'changed' | 'resolve'>;
  events: Pick<Events, 'linked' | 'unlinked'>;
  clock: Clock;
  ids: Ids;
};

const defaultRole = 'known';

/** Lets in those who wait: by their place in the list, or by the code they were given. */
export function createPairing({ db, pending, trust, events, clock, ids }: Deps) {
  const throttle = createGuessThrottle(clock);

  /** All of it in one transaction, or nothing. The sender's next message is judged anew. */
  const linkRow = async (row: PendingRow, target: LinkTarget, what: 'linked' | 'paired'): Promise<LinkResult> => {
    const linked = await db.transaction(async (tx) => {
      const done = await linkIdentity(createTrustStore(tx, clock, ids), row, target);
      await createPendingStore(tx).delete(row.id);
      return done;
    });
    pending.remove(row);
    trust.changed();
    events.linked(what, linked);
    const { surface, value } = linked.identifier;
    const now = await trust.resolve({ channel: surface, sender: { raw_id: value }, conversation_key: '' });
    return { ok: true, ...linked, trust: now };
  };

  return {
    /**
     * Takes an identifier from its principal, who stays: the way back from linking. The next message is denied.
     * @throws ServiceError `not_found`, or `conflict` for the last way in of an owner.
     */
    async unlink(identifierId: string): Promise<void> {
      const removed = await db.transaction(async (tx) => {
        const store = createTrustStore(tx, clock, ids);
        const ways = await store.ownersWaysIn();
        if (ways.length === 1 && ways[0] === identifierId) {
          throw conflict('This is the last identifier of an owner. Without it nobody could let anyone in.');
        }
        const identifier = await store.removeIdentifier(identifierId);
        if (identifier === null) throw notFound('identifier', identifierId);
        return identifier;
      });
      trust.changed();
      events.unlinked(removed);
    },

    /** @throws ServiceError `not_found` or `conflict`, and then nothing has changed. */
    link: (pendingId: string, target: LinkTarget): Promise<LinkResult> => linkRow(pending.read(pendingId), target, 'linked'),

    /** @throws ServiceError `busy` after too many wrong codes, `not_found`, `conflict`, `bad_request`. */
    async pair({ code, as, role, name }: PairRequest): Promise<LinkResult> {
      if (as !== undefined && (role ?? name) !== undefined) {
        throw badRequest('"as" links to a principal that has its name and roles; "role" and "name" are for a new one.');
      }
      throttle.check();
      const row = pending.findByCode(code);
      if (row === undefined) {
        throttle.wrong();
        throw unknownCode(code);
      }
      const target: LinkTarget =
        as === undefined
          ? { type: 'new', key: null, display_name: name ?? null, role: role ?? defaultRole }
          : { type: 'key', key: as };
      return linkRow(row, target, 'paired');
    },
  };
}

export type Pairing = ReturnType<typeof createPairing>;

const unknownCode = (code: string) =>
  new ServiceError(
    'not_found',
    `Nobody waits with the code "${code.slice(0, 40)}". A code lives for one hour and works once. ` +
      'Look who waits (svc pair), or have them write again for a new code.',
  );
