import type { InstanceCall, InstanceCallAnswer } from '@svc/contract/instance-call.ts';
import { callTimeoutMs, maxCallChars } from '@svc/contract/instance-call.ts';
import { createAtOnce } from '@svc/service-kit/at-once.ts';
import { textInSlices, valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { maskValue } from '@svc/service-kit/redaction/mask-value.ts';
import { conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceService } from '../instance/instance-service.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { callConnector } from './call-connector.ts';

type Deps = {
  instances: Pick<InstanceService, 'get'>;
  types: Pick<ConnectorTypes, 'find'>;
  supervisor: Pick<InstanceSupervisor, 'endpointOf' | 'mask'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
};

/**
 * `POST /instances/:id/call`: calls a method of a running instance that its type lists in `calls`. It is tried only once, because the
 * outcome of an interrupted call is unknown. Throws `not_found`, `conflict`, `queue_full`, or the connector's error.
 */
export type InstanceCaller = { call(id: string, call: InstanceCall, signal: AbortSignal): Promise<InstanceCallAnswer> };

const maxPerInstance = 16;

export function createInstanceCaller({ instances, types, supervisor, knownSecrets }: Deps): InstanceCaller {
  const running = createAtOnce(maxPerInstance, 'calls of this instance');

  /** Text for the channel is redacted here, as in `/send`. */
  const masked = async (params: object) => {
    const known = await valueInSlices(knownSecrets.redactor(), params);
    return maskValue(known, { text: supervisor.mask, number: supervisor.mask });
  };

  const endpointOf = async (id: string, method: string) => {
    const { instance } = await instances.get(id);
    if (types.find(instance.type)?.meta.calls?.includes(method) !== true) throw notFound('method', method);
    if (instance.status !== 'running')
      throw conflict(`The instance "${id}" is ${instance.status}. It can be called only while it runs.`);
    const endpoint = supervisor.endpointOf(id);
    if (endpoint === null) throw conflict(`The connector of "${id}" does not accept calls.`);
    return endpoint;
  };

  const ask = async (id: string, call: InstanceCall, signal: AbortSignal): Promise<InstanceCallAnswer> => {
    const { target = '', method, params = {}, timeout_ms: timeoutMs = callTimeoutMs } = call;
    const endpoint = await endpointOf(id, method);
    const body = { target, method, params: await masked(params) };
    const tried = await callConnector<InstanceCallAnswer>(endpoint, '/call', {
      body,
      timeoutMs,
      signal,
      maxBytes: maxCallChars.result * 4,
    });
    if (tried.ok) return { ok: true, result: tried.value.result ?? null };
    const { error } = tried;
    if (!(error instanceof ServiceError)) throw error;
    const { code, status, details } = error;
    throw new ServiceError(code, supervisor.mask(await textInSlices(knownSecrets.redactor(), error.message)), {
      status,
      details,
      cause: error,
    });
  };

  return { call: (id, call, signal) => running(id, () => ask(id, call, signal)) };
}
