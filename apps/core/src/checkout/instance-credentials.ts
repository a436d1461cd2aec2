import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { errorText, forbidden, unavailable } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';

type Deps = {
  settings: Pick<CoreSettings, 'bindHost' | 'managerPort' | 'managerToken'>;
  secrets: Pick<Secrets, 'resolve'>;
};

/** The value of a secret, for an instance, which may use those alone that its config names; null: for the operator. */
export type CredentialOf = (name: string, instanceId: string | null) => Promise<Secret>;

const timeoutMs = 5_000;

/** @throws ServiceError `forbidden`, or what a secret that cannot be had throws. */
export function createCredentialOf({ settings, secrets }: Deps): CredentialOf {
  const read = async <T>(route: string): Promise<T> => {
    const url = `http://${settings.bindHost}:${settings.managerPort}${route}`;
    const answer = await requestJson<T>(url, { token: settings.managerToken, timeoutMs }).catch((error: unknown) =>
      errorText(error),
    );
    if (typeof answer !== 'string' && answer.status === 200) return answer.body;
    throw unavailable('The manager does not say which secrets this connector may use. Try again in a moment.');
  };

  const isOf = async (instanceId: string, name: string): Promise<boolean> => {
    const [{ types }, { instances }] = await Promise.all([
      read<{ types: ConnectorMeta[] }>('/types'),
      read<{ instances: Instance[] }>('/instances'),
    ]);
    const instance = instances.find(({ id }) => id === instanceId);
    const keys = types.find(({ type }) => type === instance?.type)?.credentialKeys ?? [];
    return keys.some((key) => instance?.config[key] === name);
  };

  return async (name, instanceId) => {
    // Settings of the service are for nobody else.
    const isGranted = !name.startsWith('SVC_') && (instanceId === null || (await isOf(instanceId, name)));
    if (!isGranted)
      throw forbidden(`The credential "${name.slice(0, 200)}" is not a secret that ${instanceId ?? 'a checkout'} may use.`);
    return secrets.resolve(name);
  };
}
