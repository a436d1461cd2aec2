import type { IncomingHttpHeaders } from 'node:http';
import { atLeast, type Role } from '@svc/contract/trust.ts';
import { requireSecondFactor } from '@svc/service-kit/http/second-factor.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { TrustAdmin } from './trust-admin.ts';

type Asker = { actor: string; headers: IncomingHttpHeaders };

/** Over the dashboard, high rights can be given only with a fresh second factor; low ones need none. */
export type HighRights = {
  /** @throws ServiceError `forbidden` with `step_up` for a role that may act or is trusted */
  checkRole(asker: Asker, idOrName: string): Promise<void>;
  /** The same for everything that a person has been granted. */
  checkPerson(asker: Asker, idOrKey: string): Promise<void>;
  /** Removing a grant can give rights: it may be the one that blocks. */
  checkRevoke(asker: Asker, grantId: string): Promise<void>;
};

type Deps = { trustAdmin: Pick<TrustAdmin, 'readRole' | 'readPrincipal' | 'listRoles' | 'listPrincipals'> };

/** A person, role or grant that does not exist passes: the change itself refuses it. */
export const createHighRights = ({ trustAdmin }: Deps): HighRights => ({
  async checkRole(asker, idOrName) {
    const role = await ifThere(trustAdmin.readRole(idOrName));
    if (role !== null && isHigh(role)) requireSecondFactor(asker);
  },
  async checkPerson(asker, idOrKey) {
    const person = await ifThere(trustAdmin.readPrincipal(idOrKey));
    const roles = await trustAdmin.listRoles();
    const granted = new Set(person?.grants.map(({ role_id: id }) => id));
    if (roles.some((role) => granted.has(role.id) && isHigh(role))) requireSecondFactor(asker);
  },
  async checkRevoke(asker, grantId) {
    const people = await trustAdmin.listPrincipals();
    const grant = people.flatMap(({ grants }) => grants).find(({ id }) => id === grantId);
    const role = grant === undefined ? null : await ifThere(trustAdmin.readRole(grant.role_id));
    if (role?.tier === 'BLOCKED') requireSecondFactor(asker);
  },
});

const isHigh = ({ tier, tool_policy: tools }: Pick<Role, 'tier' | 'tool_policy'>): boolean =>
  atLeast(tier, 'TRUSTED') || tools === 'full';

async function ifThere<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
