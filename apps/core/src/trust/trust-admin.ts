import type { AskPolicy, Grant, Identifier, Principal, Role, Tier, ToolPolicy } from '@svc/contract/trust.ts';
import { badRequest, conflict } from '@svc/service-kit/service-error.ts';
import { giveIdentifier } from './give-identifier.ts';
import {
  createChange,
  grantFacts,
  identifierFacts,
  missing,
  openStores,
  readPrincipal,
  readRole,
  whyKept,
  type Change,
  type ChangeDeps,
} from './trust-change.ts';

export type PrincipalInput = { key: string; display_name: string; bypass_moderation?: boolean; notes?: string };
export type PrincipalPatch = Partial<Pick<Principal, 'display_name' | 'status' | 'bypass_moderation' | 'notes'>>;
/** Omitted fields keep their value; for a new role they default to everything and everywhere. */
export type RoleInput = {
  name: string;
  tier: Tier;
  tool_policy: ToolPolicy;
  surfaces?: string[] | '*';
  tool_servers?: string[] | '*';
  asks?: AskPolicy;
  description?: string;
};
export type GrantInput = { role_id: string; scope?: Grant['scope']; expires_at?: number | null };

/** The operator's changes of trust, each in one transaction. */
export interface TrustAdmin {
  listPrincipals(): Promise<Principal[]>;
  pagePrincipals(after: string, limit: number): Promise<Principal[]>;
  readPrincipal(id: string): Promise<Principal>;
  hasPrincipal(key: string): Promise<boolean>;
  /** Whether any principal has an identifier on a channel. */
  hasIdentifierOn(surface: string): Promise<boolean>;
  listRoles(): Promise<Role[]>;
  readRole(id: string): Promise<Role>;
  createPrincipal(actor: string, input: PrincipalInput): Promise<Principal>;
  updatePrincipal(actor: string, idOrKey: string, patch: PrincipalPatch): Promise<Principal>;
  /** `principal_erased`: none of their names is recorded again. */
  deletePrincipal(actor: string, idOrKey: string, what?: 'principal_deleted' | 'principal_erased'): Promise<Principal>;
  /** Why a principal can be neither disabled nor deleted now; null when they can. */
  whyKept(id: string): Promise<string | null>;
  /** `from`: the id of the principal that has it now, if it is to be taken from one. */
  addIdentifier(actor: string, idOrKey: string, surface: string, value: string, from?: string): Promise<Identifier>;
  removeIdentifier(actor: string, id: string): Promise<Identifier>;
  saveRole(actor: string, input: RoleInput): Promise<Role>;
  deleteRole(actor: string, idOrName: string): Promise<Role>;
  addGrant(actor: string, idOrKey: string, grant: GrantInput): Promise<Grant>;
  removeGrant(actor: string, id: string): Promise<Grant>;
}

/**
 * The operator's changes of who is trusted. Principals are named by id or key, roles by id or name. Repeating a change changes
 * nothing. `actor` is recorded with every change.
 * @throws ServiceError `not_found`, `conflict` or `bad_request`, and then nothing has changed.
 */
export function createTrustAdmin(deps: ChangeDeps): TrustAdmin {
  const { db, clock, ids } = deps;
  const stores = openStores(db, clock, ids);
  const tools: Tools = { change: createChange(deps), clock, ids };

  return {
    listPrincipals: () => stores.principals.list(),
    pagePrincipals: (after: string, limit: number) => stores.principals.page(after, limit),
    readPrincipal: (id: string) => readPrincipal(stores, id),
    hasPrincipal: async (key: string) => (await stores.trust.findPrincipalId(key)) !== null,
    hasIdentifierOn: (surface: string) => stores.trust.hasIdentifierOn(surface),
    listRoles: () => stores.roles.list(),
    readRole: (id: string) => readRole(stores, id),
    whyKept: (id: string) => whyKept(stores, clock.now(), id),

    ...principalChanges(tools),
    ...identifierChanges(tools),
    ...roleChanges(tools),
    ...grantChanges(tools),
  };
}

type Tools = { change: Change } & Pick<ChangeDeps, 'clock' | 'ids'>;

const principalChanges = ({
  change,
  clock,
  ids,
}: Tools): Pick<TrustAdmin, 'createPrincipal' | 'updatePrincipal' | 'deletePrincipal'> => ({
  createPrincipal: (actor: string, { key, display_name, bypass_moderation = false, notes = '' }: PrincipalInput) =>
    change(actor, async ({ principals, trust }) => {
      const taken = (await principals.read(key))?.key ?? (await trust.findLikeKey(key));
      if (taken !== null) throw conflict(`There is a person "${taken}" already. Choose another key.`);
      const fields = { display_name, status: 'active' as const, bypass_moderation, notes };
      const id = ids.next('principal');
      await principals.add(id, key, { ...fields, now: clock.now() });
      const result = await readPrincipal({ principals }, id);
      return { result, change: { what: 'principal_created', principal: key, before: null, after: fields } };
    }),

  updatePrincipal: (actor: string, idOrKey: string, patch: PrincipalPatch) =>
    change<Principal>(actor, async ({ principals }) => {
      const was = await readPrincipal({ principals }, idOrKey);
      const after = Object.fromEntries(
        Object.entries(patch).filter(([field, value]) => was[field as keyof PrincipalPatch] !== value),
      );
      if (Object.keys(after).length === 0) return { result: was, change: null };
      await principals.update(was.id, { ...was, ...patch, now: clock.now() });
      const before = Object.fromEntries(Object.keys(after).map((field) => [field, was[field as keyof PrincipalPatch]]));
      const result = await readPrincipal({ principals }, was.id);
      return { result, change: { what: 'principal_changed', principal: was.key, before, after } };
    }),

  deletePrincipal: (actor: string, idOrKey: string, what = 'principal_deleted') =>
    change(actor, async ({ principals }) => {
      const was = await readPrincipal({ principals }, idOrKey);
      await principals.delete(was.id);
      const { key, display_name, status, bypass_moderation, notes } = was;
      if (what === 'principal_erased') return { result: was, change: { what, principal: key, before: null, after: null } };
      const before = {
        display_name,
        status,
        bypass_moderation,
        notes,
        identifiers: was.identifiers.map(identifierFacts),
        grants: was.grants.map(grantFacts),
      };
      return { result: was, change: { what, principal: key, before, after: null } };
    }),
});

const identifierChanges = ({ change }: Tools): Pick<TrustAdmin, 'addIdentifier' | 'removeIdentifier'> => ({
  addIdentifier: (actor: string, idOrKey: string, surface: string, value: string, from?: string) =>
    change<Identifier>(actor, async ({ principals, trust }) => {
      const principal = await readPrincipal({ principals }, idOrKey);
      const holder = from === undefined ? null : await trust.findIdentifier(surface, value);
      const isMoved = holder !== null && holder.principal_id === from && from !== principal.id;
      if (isMoved) await principals.deleteIdentifier(holder.id);
      const { id, isNew } = await giveIdentifier(trust, { principal_id: principal.id, surface, value });
      const result = (await principals.readIdentifier(id)) ?? missing('identifier', id);
      if (!isNew) return { result, change: null };
      const before = isMoved ? { principal: (await readPrincipal({ principals }, holder.principal_id)).key } : null;
      const what = isMoved ? 'moved' : 'linked';
      return { result, change: { what, principal: principal.key, before, after: identifierFacts(result) } };
    }),

  removeIdentifier: (actor: string, id: string) =>
    change(actor, async ({ principals }) => {
      const was = (await principals.readIdentifier(id)) ?? missing('identifier', id);
      const { key } = await readPrincipal({ principals }, was.principal_id);
      await principals.deleteIdentifier(id);
      return { result: was, change: { what: 'unlinked', principal: key, before: identifierFacts(was), after: null } };
    }),
});

const roleChanges = ({ change, ids }: Tools): Pick<TrustAdmin, 'saveRole' | 'deleteRole'> => ({
  saveRole: (actor: string, input: RoleInput) =>
    change<Role>(actor, async ({ roles }) => {
      const found = await roles.read(input.name);
      const was = found?.name === input.name ? found : null;
      const like = was === null ? await roles.findLike(input.name) : null;
      if (like !== null) throw conflict(`The name could be mistaken for that of the role "${like}". Choose another name.`);
      const role = { ...newRole, ...was, ...input, id: was?.id ?? ids.next('role') };
      if (was !== null && JSON.stringify(roleFacts(was)) === JSON.stringify(roleFacts(role))) {
        return { result: was, change: null };
      }
      await roles.save(role);
      const before = was === null ? null : roleFacts(was);
      const what = was === null ? 'role_created' : 'role_changed';
      return { result: await readRole({ roles }, role.id), change: { what, principal: null, before, after: roleFacts(role) } };
    }),

  deleteRole: (actor: string, idOrName: string) =>
    change(actor, async ({ roles }) => {
      const was = await readRole({ roles }, idOrName);
      const holders = await roles.holders(was.id);
      if (holders.length > 0) {
        const who = holders.slice(0, 20).join(', ') + (holders.length > 20 ? ' and others' : '');
        throw conflict(`The role "${was.name}" is granted to ${who}. Take it from them first.`, { principals: holders });
      }
      await roles.delete(was.id);
      return { result: was, change: { what: 'role_deleted', principal: null, before: roleFacts(was), after: null } };
    }),
});

const grantChanges = ({ change, clock, ids }: Tools): Pick<TrustAdmin, 'addGrant' | 'removeGrant'> => ({
  addGrant: (actor: string, idOrKey: string, { role_id, scope = {}, expires_at = null }: GrantInput) =>
    change<Grant>(actor, async ({ principals, roles, grants }) => {
      if (expires_at !== null && expires_at <= clock.now()) throw notValid('expires_at', 'lies in the past');
      const principal = await readPrincipal({ principals }, idOrKey);
      const role = await readRole({ roles }, role_id);
      const place = { principal_id: principal.id, role_id: role.id, scope };
      const was = await grants.findSame(place);
      if (was?.expires_at === expires_at) return { result: was, change: null };
      const grant = { ...place, role: role.name, id: was?.id ?? ids.next('grant'), expires_at };
      await grants.save(grant);
      const before = was === null ? null : grantFacts(was);
      const what = was === null ? 'granted' : 'grant_changed';
      return { result: grant, change: { what, principal: principal.key, before, after: grantFacts(grant) } };
    }),

  removeGrant: (actor: string, id: string) =>
    change(actor, async ({ principals, grants }) => {
      const was = (await grants.read(id)) ?? missing('grant', id);
      const { key } = await readPrincipal({ principals }, was.principal_id);
      await grants.delete(id);
      return { result: was, change: { what: 'revoked', principal: key, before: grantFacts(was), after: null } };
    }),
});

const newRole = { surfaces: '*', tool_servers: '*', asks: 'never', description: '' } as const;

const roleFacts = ({ name, tier, tool_policy, surfaces, tool_servers, asks, description }: Role) => ({
  name,
  tier,
  tool_policy,
  surfaces,
  tool_servers,
  asks,
  description,
});

const notValid = (field: string, problem: string) =>
  badRequest(`The request is not valid: body.${field} ${problem}.`, { fields: [{ field: `body.${field}`, problem }] });
