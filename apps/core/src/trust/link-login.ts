import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { ownersAmong } from './owners.ts';
import type { TrustAdmin } from './trust-admin.ts';

/** The channel of those who have signed in, whose names are their senders. */
const surface = 'web';

type Deps = {
  /** Of the login; undefined while there is none. */
  account(): Promise<{ name: string } | undefined>;
  trustAdmin: Pick<TrustAdmin, 'listPrincipals' | 'listRoles' | 'addIdentifier'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
};

/**
 * Makes who signs in the owner on the channel `web`, where nobody is that yet: the login is the operator's. Nothing when there is no login, and
 * nothing that the operator has arranged otherwise is changed.
 */
export async function linkLogin({ account: readAccount, trustAdmin, clock, log }: Deps): Promise<void> {
  const account = await readAccount();
  if (account === undefined) return;
  const { name } = account;
  const [principals, roles] = await Promise.all([trustAdmin.listPrincipals(), trustAdmin.listRoles()]);
  const isKnown = principals.some(({ identifiers }) => identifiers.some((one) => one.surface === surface && one.value === name));
  if (isKnown) return;
  const owners = ownersAmong(principals, roles, clock.now());
  const owner = owners.find(({ key }) => key === 'owner') ?? owners[0];
  if (owner === undefined) return log.warn('Nobody is an owner, so the login is a stranger on the web: ./svc person');
  try {
    await trustAdmin.addIdentifier(name, owner.key, surface, name);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.warn({ error: error.message }, `The login is a stranger on the web: ./svc person link ${owner.key} ${surface} NAME`);
  }
}
