import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { forbidden, unavailable } from '@svc/service-kit/service-error.ts';
import type { ManagerReader } from '../instance/manager-reader.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { GitSource } from './git-source.ts';

type Deps = {
  settings: Pick<CoreSettings, 'coreToken' | 'checkoutSecrets'>;
  manager: ManagerReader;
  secrets: Pick<Secrets, 'resolve'>;
};

/** Who names a secret (null: a program over HTTP), and the server that it is sent to. */
type Use = { instanceId: string | null; to: Pick<GitSource, 'scheme' | 'host' | 'port'> };

/**
 * The value of a secret. An instance may only use the secrets that its config names. A program may use those that the operator has declared
 * for the server, and others only with the core's token, because without a token every program of this machine may ask.
 */
export type CredentialOf = (name: string, use: Use) => Promise<Secret>;

/** @throws ServiceError `forbidden`, or the error of an unavailable secret. */
export function createCredentialOf({ settings, manager, secrets }: Deps): CredentialOf {
  const isOf = async (instanceId: string, name: string): Promise<boolean> => {
    const [types, instances] = await Promise.all([manager.types(), manager.instances()]).catch((error: unknown) => {
      throw unavailable('The manager could not list the secrets that this connector may use. Try again in a moment.', error);
    });
    const instance = instances.find(({ id }) => id === instanceId);
    const keys = types.find(({ type }) => type === instance?.type)?.credentialKeys ?? [];
    return keys.some((key) => instance?.config[key] === name);
  };

  const isDeclared = (name: string, to: Use['to']): boolean =>
    settings.checkoutSecrets.some((one) => one.name === name && serversOf(to).includes(one.host));

  return async (name, { instanceId, to }) => {
    const shown = name.slice(0, 200);
    // The service's own settings are never passed on.
    if (name.startsWith('SVC_')) throw forbidden(`The credential "${shown}" is a setting of the service, not a secret for git.`);
    if (instanceId === null && settings.coreToken === null && !isDeclared(name, to)) throw notDeclared(shown, to);
    if (instanceId !== null && !(await isOf(instanceId, name)))
      throw forbidden(`The credential "${shown}" is not a secret that ${instanceId} may use.`);
    return secrets.resolve(name);
  };
}

/** The ways to write a server: the port may be omitted only for https on 443, so that an omission never sends a secret unencrypted. */
const serversOf = ({ scheme, host, port }: Use['to']): string[] =>
  scheme === 'https' && port === 443 ? [host, `${host}:443`] : [`${host}:${port}`];

const notDeclared = (name: string, to: Use['to']): Error =>
  forbidden(
    `The secret "${name}" is not declared for ${to.host}, and without SVC_CORE_TOKEN any program of this machine could ask for it. ` +
      `Allow it: SVC_CHECKOUT_SECRETS=${name}@${serversOf(to)[0]}`,
  );
