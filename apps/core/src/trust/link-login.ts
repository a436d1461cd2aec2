import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { ownersAmong } from './owners.ts';
import type { TrustAdmin } from './trust-admin.ts';

/** The channel of signed-in people. Its senders are their login names. */
const surface = 'web';

type Deps = {
  /** The account of the login; undefined while there is none. */
  account(): Promise<{ name: string } | undefined>;
  trustAdmin: Pick<TrustAdmin, 'listPrincipals' | 'listRoles' | 'addIdentifier'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
};

/**
 * Links the operator's login, as a sender on the channel `web`, to an owner, if nobody has an identifier there yet. Does nothing
 * without a login, and changes nothing that the operator has arranged otherwise.
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
  if (owner === undefined)
    return log.warn('No person is an owner, so the login of the dashboard belongs to no person: ./svc person');
  try {
    await trustAdmin.addIdentifier(name, owner.key, surface, name);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.warn(
      { error: error.message },
      `The login of the dashboard belongs to no person. Link it: ./svc person link ${owner.key} ${surface} NAME`,
    );
  }
}
