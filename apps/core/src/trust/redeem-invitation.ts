import type { Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { createInvitationStore, type InvitationRow } from './invitation-store.ts';
import { isLive } from './invitations.ts';
import { linkIdentity, type Linked, type LinkTarget } from './link-identity.ts';
import { linkedFacts } from './pairing.ts';
import type { TrustAudit } from './trust-audit.ts';
import type { TrustService } from './trust-service.ts';
import { createTrustStore, type TrustStore } from './trust-store.ts';

/** Most wrong codes of one sender in an hour, and of all senders in a minute; after that, no code is checked for as long. */
const maxWrong = { ofSender: 5, ofAll: 100 } as const;
const everybody = '';

/** The sender of a code. `name` is safe to show. */
export type Guest = { surface: string; value: string; name: string | null };

/**
 * The outcome of a code. `joined`: the sender was linked; `is_new` is false when the same sender had used the code before. `known`: the
 * sender has access already, and the code stays unused. `unfit`: the sender's name cannot be told apart from another. `wrong` and `busy`
 * reveal nothing about the code.
 */
export type Redeemed =
  | { type: 'joined'; linked: Linked | null }
  | { type: 'known' }
  | { type: 'wrong' }
  | { type: 'unfit' }
  | { type: 'busy'; waitMs: number };

/** Redeems an invitation, once and in one transaction. Never rejects because of what the sender did. */
export type RedeemInvitation = (guest: Guest, code: string) => Promise<Redeemed>;

type Deps = {
  db: Database;
  trust: Pick<TrustService, 'changed'>;
  audit: TrustAudit;
  events: Pick<Events, 'linked'>;
  clock: Clock;
  ids: Ids;
};

export function createRedeemInvitation({ db, trust, audit, events, clock, ids }: Deps): RedeemInvitation {
  const wrongOfSender = createFixedWindow(clock, { max: maxWrong.ofSender, windowMs: 60 * 60_000 });
  const wrongOfAll = createFixedWindow(clock, { max: maxWrong.ofAll, windowMs: 60_000 });

  /** The code is checked only within the transaction, so of two senders who have it only one can use it. */
  const redeem = (guest: Guest, code: string): Promise<Redeemed> =>
    db.transaction(async (tx): Promise<Redeemed> => {
      const invitations = createInvitationStore(tx);
      const store = createTrustStore(tx, clock, ids);
      const { surface, value } = guest;
      const row = await invitations.findByCode(code);
      if (row === undefined) return { type: 'wrong' };
      const holder = await store.findIdentifier(surface, value);
      const isTheirs = row.used_surface === surface && row.used_value === value;
      if (isTheirs && holder?.principal_id === row.principal_id) return { type: 'joined', linked: null };
      if (!isLive(row, clock.now()) || (row.surface !== null && row.surface !== surface)) return { type: 'wrong' };
      if (holder !== null) return { type: 'known' };
      const target = await targetOf(row, store);
      if (target === null) return { type: 'wrong' };
      const linked = await linkIdentity(store, guest, target);
      await invitations.use(row.id, { principal_id: linked.principal.id, surface, value });
      const after = { invitation_id: row.id, ...linkedFacts(linked) };
      await audit.add(tx, { actor: row.created_by, what: 'joined', principal: linked.principal.key, before: null, after });
      return { type: 'joined', linked };
    });

  return async (guest, code) => {
    const sender = compositeKey(guest.surface, guest.value);
    const waitMs = Math.max(wrongOfSender.waitMs(sender), wrongOfAll.waitMs(everybody));
    if (waitMs > 0) return { type: 'busy', waitMs };
    const redeemed = await redeem(guest, code).catch(refusal);
    if (redeemed.type === 'wrong') {
      wrongOfSender.count(sender);
      wrongOfAll.count(everybody);
    }
    if (redeemed.type === 'joined' && redeemed.linked !== null) {
      trust.changed();
      events.linked('joined', redeemed.linked);
    }
    return redeemed;
  };
}

/** Null when the person it was made for, or the role, no longer exists. */
async function targetOf({ principal_id, name, role }: InvitationRow, store: TrustStore): Promise<LinkTarget | null> {
  if (principal_id !== null) {
    const principal = await store.findPrincipal(principal_id);
    return principal?.active === true ? { type: 'id', id: principal_id } : null;
  }
  if (role === null || !(await store.hasRole(role))) return null;
  return { type: 'new', key: null, display_name: name, role };
}

/** A name that could be mistaken for another, or that no identifier can have. Anything else is our own fault and is thrown. */
function refusal(error: unknown): Redeemed {
  if (error instanceof ServiceError && error.code === 'bad_request') return { type: 'unfit' };
  throw error;
}
