import { invitationLength } from '@svc/contract/invitation.ts';
import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, conflict, notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { createInvitationStore, type InvitationRow } from './invitation-store.ts';
import { makeCode, showCode } from './pairing-code.ts';
import type { NewTrustChange, TrustAudit } from './trust-audit.ts';
import { createTrustStore } from './trust-store.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const usualLifeMs = 10 * minuteMs;
const maxLifeMs = 7 * dayMs;
const maxLive = 100;
const defaultRole = 'known';

/** Whom a code lets in: `as` names an existing principal; `role` and `name` are for a new one. `expires_at` is epoch ms. */
export type InvitationRequest = { as?: string; role?: string; name?: string; surface?: string; expires_at?: number };

type Deps = {
  db: Database;
  audit: TrustAudit;
  events: Pick<Events, 'trustChanged'>;
  clock: Clock;
  ids: Ids;
  log: Pick<Log, 'error'>;
};

/** Codes that the operator makes for people who have not written yet. Used by `RedeemInvitation`. */
export interface Invitations {
  /** @throws ServiceError `bad_request`, `not_found`, `conflict` while there are too many. */
  make(actor: string, request: InvitationRequest): Promise<NewInvitation>;
  /** Those that can still be used, newest first. */
  list(): Promise<Invitation[]>;
  /** @throws ServiceError `not_found` */
  revoke(actor: string, id: string): Promise<void>;
  close(): void;
}

/** Whether it can still be used. One that expires later than any can was made while the clock was wrong. */
export const isLive = ({ used_surface, expires_at }: InvitationRow, now: number): boolean =>
  used_surface === null && expires_at > now && expires_at <= now + maxLifeMs;

export function createInvitations({ db, audit, events, clock, ids, log }: Deps): Invitations {
  /** Kept for a day after it expired, so that the message which used it can arrive again. */
  const prune = () => createInvitationStore(db).prune(clock.now() - dayMs);
  const stop = clock.every(60 * minuteMs, () => {
    prune().catch((error: unknown) => log.error({ err: error }, 'old invitations could not be removed'));
  });

  /** The change and its record in one transaction. */
  async function change<T>(work: (tx: Database) => Promise<{ result: T; told: NewTrustChange }>): Promise<T> {
    const { result, told } = await db.transaction(async (tx) => {
      const done = await work(tx);
      return { result: done.result, told: await audit.add(tx, done.told) };
    });
    events.trustChanged(told);
    return result;
  }

  /** @throws ServiceError `not_found` */
  async function whom(tx: Database, { as, name, role = defaultRole }: InvitationRequest) {
    const store = createTrustStore(tx, clock, ids);
    if (as === undefined) {
      if (!(await store.hasRole(role))) throw notFound('role', role);
      return { principal: null, principal_id: null, name: name ?? null, role };
    }
    const principal_id = await store.findPrincipalId(as);
    if (principal_id === null) throw notFound('person', as);
    return { principal: as, principal_id, name: null, role: null };
  }

  return {
    async make(actor, request) {
      const now = clock.now();
      const { surface = null, expires_at = now + usualLifeMs } = request;
      checkRequest(request, expires_at, now);
      const code = makeCode(invitationLength);
      return change(async (tx) => {
        const store = createInvitationStore(tx);
        if ((await store.list()).filter((row) => isLive(row, now)).length >= maxLive) throw tooMany();
        const stored = { created_by: actor, created_at: now, expires_at, surface, ...(await whom(tx, request)) };
        const row = { id: ids.next('invitation'), ...stored };
        await store.add(row, code);
        const invitation = toInvitation(row);
        const told = {
          actor,
          what: 'invited' as const,
          principal: invitation.principal,
          before: null,
          after: factsOf(invitation),
        };
        return { result: { ok: true, code: showCode(code), invitation }, told };
      });
    },

    async list() {
      const now = clock.now();
      return (await createInvitationStore(db).list()).filter((row) => isLive(row, now)).map(toInvitation);
    },

    revoke: (actor, id) =>
      change(async (tx) => {
        const store = createInvitationStore(tx);
        const row = await store.read(id);
        if (row === undefined || !isLive(row, clock.now())) throw notFound('invitation', id);
        await store.delete(id);
        const { principal } = row;
        const before = factsOf(toInvitation(row));
        return { result: undefined, told: { actor, what: 'invitation_revoked', principal, before, after: null } };
      }),

    close: stop,
  };
}

function checkRequest({ as, role, name }: InvitationRequest, expiresAt: number, now: number): void {
  if (as !== undefined && (role ?? name) !== undefined) {
    throw badRequest('"as" names an existing person, whose name and roles stay. "role" and "name" are only for a new person.');
  }
  if (expiresAt > now && expiresAt <= now + maxLifeMs) return;
  throw badRequest('"expires_at" must lie in the future, at most 7 days ahead.');
}

const tooMany = () => conflict(`There are already ${maxLive} unused invitations. Revoke some first, or wait until they expire.`);

const toInvitation = (row: Omit<InvitationRow, 'used_surface' | 'used_value'>): Invitation => ({
  id: row.id,
  principal: row.principal,
  name: row.name,
  role: row.role,
  surface: row.surface,
  created_by: row.created_by,
  created_at: row.created_at,
  expires_at: row.expires_at,
});

const factsOf = ({ id, name, role, surface, expires_at }: Invitation) => ({ invitation_id: id, name, role, surface, expires_at });
