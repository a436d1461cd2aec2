import type { Grant, Identifier, Principal, Role } from '@svc/contract/trust.ts';
import { conflict, notFound, type ServiceError } from '@svc/service-kit/service-error.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Database } from '@svc/store/database.ts';
import type { Events } from '../events.ts';
import { createGrantStore, type GrantStore } from './grant-store.ts';
import { actingOwnersAmong, ownersAmong } from './owners.ts';
import { createPrincipalStore, type PrincipalStore } from './principal-store.ts';
import { createRoleStore, type RoleStore } from './role-store.ts';
import type { NewTrustChange, TrustAudit } from './trust-audit.ts';
import type { TrustService } from './trust-service.ts';
import { createTrustStore, type TrustStore } from './trust-store.ts';

export type ChangeDeps = {
  db: Database;
  trust: Pick<TrustService, 'changed'>;
  audit: TrustAudit;
  events: Pick<Events, 'trustChanged'>;
  clock: Clock;
  ids: Ids;
};

export type Stores = { principals: PrincipalStore; roles: RoleStore; grants: GrantStore; trust: TrustStore };

/** The result of a change, and what is recorded of it; `change` is null when nothing changed. */
export type Done<T> = { result: T; change: Omit<NewTrustChange, 'actor'> | null };
export type Change = <T>(actor: string, work: (stores: Stores) => Promise<Done<T>>) => Promise<T>;

/**
 * Makes one change of trust: atomic, recorded in the same transaction, effective at once, and refused when it would leave
 * nobody with every right.
 */
export function createChange({ db, trust, audit, events, clock, ids }: ChangeDeps): Change {
  return async (actor, work) => {
    const { result, told } = await db.transaction(async (tx) => {
      const stores = openStores(tx, clock, ids);
      const before = await owners(stores, clock.now());
      const { result, change } = await work(stores);
      if (change === null) return { result, told: null };
      const after = await owners(stores, clock.now());
      checkOwners(before, after, change.what === 'unlinked' || change.what === 'moved');
      return { result, told: await audit.add(tx, { actor, ...change }) };
    });
    if (told === null) return result;
    trust.changed();
    events.trustChanged(told);
    return result;
  };
}

export const openStores = (db: Database, clock: Clock, ids: Ids): Stores => ({
  principals: createPrincipalStore(db),
  roles: createRoleStore(db),
  grants: createGrantStore(db),
  trust: createTrustStore(db, clock, ids),
});

type Owners = { all: Principal[]; acting: Principal[] };

async function owners({ principals, roles }: Pick<Stores, 'principals' | 'roles'>, now: number): Promise<Owners> {
  const [everyone, everyRole] = [await principals.list(), await roles.list()];
  return { all: ownersAmong(everyone, everyRole, now), acting: actingOwnersAmong(everyone, everyRole, now) };
}

/** Why a principal must stay active: they are the last with every right. Null for all others. */
export async function whyKept(stores: Pick<Stores, 'principals' | 'roles'>, now: number, id: string): Promise<string | null> {
  const before = await owners(stores, now);
  const others = (list: Principal[]) => list.filter((owner) => owner.id !== id);
  return lostOwners(before, { all: others(before.all), acting: others(before.acting) });
}

function lostOwners(before: Owners, after: Owners): string | null {
  const kind = (['all', 'acting'] as const).find((each) => before[each].length > 0 && after[each].length === 0);
  if (kind === undefined) return null;
  const who = before[kind].map(({ key }) => `"${key}"`).join(', ');
  return (
    `${who} is the last person with every right (owner, full tools, on every channel, without expiry). ` +
    'Give another person such a role first.'
  );
}

function checkOwners(before: Owners, after: Owners, losesIdentifier: boolean): void {
  const lost = lostOwners(before, after);
  if (lost !== null) throw conflict(lost);
  const ways = ({ all }: Owners) => all.flatMap(({ identifiers }) => identifiers).length;
  if (losesIdentifier && ways(before) > 0 && ways(after) === 0) {
    throw conflict('This is the last identifier of an owner. Without it nobody could let anyone in.');
  }
}

/** @throws ServiceError `not_found` */
export async function readPrincipal({ principals }: Pick<Stores, 'principals'>, idOrKey: string): Promise<Principal> {
  return (await principals.read(idOrKey)) ?? missing('person', idOrKey);
}

/** @throws ServiceError `not_found` */
export async function readRole({ roles }: Pick<Stores, 'roles'>, idOrName: string): Promise<Role> {
  return (await roles.read(idOrName)) ?? missing('role', idOrName);
}

export const missing = (what: string, id: string): never => {
  throw notFound(what, id) satisfies ServiceError;
};

/** An identifier as recorded: without what the record has elsewhere. */
export const identifierFacts = ({ id, surface, value }: Identifier) => ({ identifier_id: id, surface, value });
export const grantFacts = ({ id, role, scope, expires_at }: Grant) => ({ grant_id: id, role, scope, expires_at });
