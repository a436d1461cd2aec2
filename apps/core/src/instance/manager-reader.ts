import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** The manager's data about connectors. Rejects with the connection's error, or for an unexpected answer. */
export type ManagerReader = { types(): Promise<ConnectorMeta[]>; instances(): Promise<Instance[]> };

const timeoutMs = 5_000;

export function createManagerReader(settings: Pick<CoreSettings, 'bindHost' | 'managerPort' | 'managerToken'>): ManagerReader {
  const { bindHost, managerPort, managerToken: token } = settings;
  const read = async <T>(route: string): Promise<T> => {
    const { status, body } = await requestJson<T>(`http://${bindHost}:${managerPort}${route}`, { token, timeoutMs });
    if (status !== 200) throw new Error(`the manager answered ${status}`);
    return body;
  };
  return {
    types: async () => (await read<{ types: ConnectorMeta[] }>('/types')).types,
    instances: async () => (await read<{ instances: Instance[] }>('/instances')).instances,
  };
}
