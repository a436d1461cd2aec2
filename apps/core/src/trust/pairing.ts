import type { LinkResult } from '@svc/contract/pairing.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { createGuessThrottle } from './guess-throttle.ts';
import { linkIdentity, type Linked, type LinkTarget } from './link-identity.ts';
import type { Pending } from './pending.ts';
import { createPendingStore, type PendingRow } from './pending-store.ts';
import type { TrustAudit } from './trust-audit.ts';
import type { TrustService } from './trust-service.ts';
import { createTrustStore } from './trust-store.ts';

/** The operator's request with a code. `as` names an existing principal; `role` and `name` are for a new one. */
export type PairRequest = { code: string; as?: string; role?: string; name?: string };

type Deps = {
  db: Database;
  pending: Pending;
  trust: Pick<TrustService, 'changed' | 'resolve'>;
  audit: TrustAudit;
  events: Pick<Events, 'linked'>;
  clock: Clock;
  ids: Ids;
};

/** `actor`: who lets them in, for the audit. */
type Linking = { what: 'linked' | 'paired'; actor: string };

/** The role of a new person if the operator names none. */
export const defaultRole = 'known';

/** Lets in waiting senders. */
export interface Pairing {
  /** @throws ServiceError `not_found` or `conflict`, and then nothing has changed. */
  link(actor: string, pendingId: string, target: LinkTarget): Promise<LinkResult>;
  /** @throws ServiceError `busy` after too many wrong codes, `not_found`, `conflict`, `bad_request`. */
  pair(actor: string, request: PairRequest): Promise<LinkResult>;
}

/** Lets in waiting senders: by their entry in the list, or by the code they were given. */
export function createPairing({ db, pending, trust, audit, events, clock, ids }: Deps): Pairing {
  const throttle = createGuessThrottle(clock);

  /** Done in one transaction, and effective with the sender's next message. */
  const linkRow = async (row: PendingRow, target: LinkTarget, { what, actor }: Linking): Promise<LinkResult> => {
    const linked = await db.transaction(async (tx) => {
      const done = await linkIdentity(createTrustStore(tx, clock, ids), row, target);
      await createPendingStore(tx).delete(row.id);
      await audit.add(tx, { actor, what, principal: done.principal.key, before: null, after: linkedFacts(done) });
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
    async link(actor: string, pendingId: string, target: LinkTarget): Promise<LinkResult> {
      const end = target.type === 'new' ? (target.expires_at ?? null) : null;
      if (end !== null && end <= clock.now())
        throw badRequest('The request is not valid: principal.expires_at lies in the past.');
      return linkRow(pending.read(pendingId), target, { what: 'linked', actor });
    },

    async pair(actor: string, { code, as, role, name }: PairRequest): Promise<LinkResult> {
      if (as !== undefined && (role ?? name) !== undefined) {
        throw badRequest(
          '"as" names an existing person, whose name and roles stay. "role" and "name" are only for a new person.',
        );
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
      return linkRow(row, target, { what: 'paired', actor });
    },
  };
}

/** What is recorded about a person who was let in. */
export const linkedFacts = ({ principal, identifier, sender_name, role }: Linked) => ({
  identifier_id: identifier.id,
  surface: identifier.surface,
  value: identifier.value,
  sender_name,
  role,
  is_new: principal.is_new,
});

const unknownCode = (code: string) =>
  new ServiceError(
    'not_found',
    `No waiting sender has the code "${code.slice(0, 40)}". A code expires after one hour and works once. ` +
      'List who is waiting (./svc pair), or ask the person to write again for a new code.',
  );
