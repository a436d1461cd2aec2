import type { ChannelInfo, ToggleChannel } from '@svc/contract/send.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import type { InstanceService } from '../instance/instance-service.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { callConnector } from './call-connector.ts';

type Deps = {
  instances: Pick<InstanceService, 'get'>;
  supervisor: Pick<InstanceSupervisor, 'endpointOf' | 'mask'>;
};

const timeoutMs = 9_000;

/** `/instances/:id/channels`: passes requests on to the connector, which stores its choice of channels. Throws `conflict`, or the connector's error. */
export type ChannelProxy = {
  list(id: string): Promise<{ channels: ChannelInfo[] }>;
  toggle(id: string, body: ToggleChannel): Promise<{ ok: true; channel: ChannelInfo }>;
};

export function createChannelProxy({ instances, supervisor }: Deps): ChannelProxy {
  async function ask<T>(id: string, body?: ToggleChannel): Promise<T> {
    const { instance } = await instances.get(id);
    if (instance.status !== 'running')
      throw conflict(`The instance "${id}" is ${instance.status}. Its channels are available only while it runs.`);
    const endpoint = supervisor.endpointOf(id);
    if (endpoint === null) throw conflict(`The connector of "${id}" has no channels to choose from.`);
    const tried = await callConnector<T>(endpoint, '/channels', { body, timeoutMs });
    if (tried.ok) return tried.value;
    const { error } = tried;
    if (!(error instanceof ServiceError)) throw error;
    const { code, status, details } = error;
    throw new ServiceError(code, supervisor.mask(error.message), { status, details, cause: error });
  }

  return {
    list: (id) => ask(id),
    toggle: (id, body) => ask(id, body),
  };
}
