import type { Instance } from '@svc/contract/instance.ts';
import type { EngineChoice, HealthInfo, SupervisorState, VersionInfo } from '@svc/contract/service.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { hostAddresses, type HostAddress } from '../service-urls.ts';
import { currentEngine, listInstances } from '../up/ask-services.ts';
import { readSupervisorState } from '../up/state-file.ts';

export type ServiceStatus = {
  name: string;
  url: string;
  pid: number | null;
  healthy: boolean;
  version: string | null;
  sha: string | null;
  /** `away` when nothing runs it. */
  status: SupervisorState['services'][number]['status'] | 'away';
  restarts: number;
  started_at: number | null;
  /** What is wrong, in words; null when nothing is. */
  reason: string | null;
};

export type InstanceStatus = Pick<Instance, 'id' | 'type' | 'name' | 'status' | 'url' | 'healthy'> & { reason: string | null };

export type Status = {
  supervisor: { pid: number; started_at: number } | null;
  services: ServiceStatus[];
  instances: InstanceStatus[];
  engine: EngineChoice | null;
};

const askTimeoutMs = 1000;

/** What runs, as the supervisor and the processes themselves tell. Bounded to about a second. */
export async function collectStatus(settings: Settings): Promise<Status> {
  const supervisor = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  const addresses = hostAddresses(settings).map((address) => ({
    ...address,
    url: supervised(supervisor, address.name)?.url ?? address.url,
  }));
  const urlOf = (name: string) => addresses.find((address) => address.name === name)?.url ?? '';
  const [services, instances, engine] = await Promise.all([
    Promise.all(addresses.map((address) => serviceStatus(address, supervised(supervisor, address.name)))),
    listInstances({ url: urlOf('manager'), token: settings.managerToken }, askTimeoutMs),
    currentEngine(urlOf('core'), askTimeoutMs),
  ]);
  return {
    supervisor: supervisor === null ? null : { pid: supervisor.pid, started_at: supervisor.started_at },
    services,
    instances: instances.map(toInstanceStatus),
    engine,
  };
}

type Supervised = SupervisorState['services'][number] | undefined;
const supervised = (state: SupervisorState | null, name: string): Supervised =>
  state?.services.find((service) => service.name === name);

async function serviceStatus({ name, url }: HostAddress, known: Supervised): Promise<ServiceStatus> {
  const [health, version] = await Promise.all([ask<HealthInfo>(`${url}/health`), ask<VersionInfo>(`${url}/version`)]);
  const fault = health.ok ? healthFault(health.body) : (downReason(known) ?? health.why);
  return {
    name,
    url,
    pid: known?.pid ?? null,
    healthy: fault === null,
    version: version.ok ? version.body.version : null,
    sha: version.ok ? version.body.sha : null,
    status: known?.status ?? (health.ok ? 'running' : 'away'),
    restarts: known?.restarts ?? 0,
    started_at: version.ok ? version.body.started_at : null,
    reason: fault,
  };
}

type Answer<T> = { ok: true; body: T } | { ok: false; why: string };

async function ask<T>(url: string): Promise<Answer<T>> {
  try {
    const { status, body } = await requestJson<T>(url, { timeoutMs: askTimeoutMs });
    return status === 200 ? { ok: true, body } : { ok: false, why: `answers with status ${status}` };
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return { ok: false, why: 'is not running' };
    return {
      ok: false,
      why: name === 'TimeoutError' || name === 'AbortError' ? `does not answer within ${askTimeoutMs / 1000} s` : message,
    };
  }
}

const healthFault = ({ status, degraded }: HealthInfo): string | null =>
  status === 'ok' ? null : (degraded?.join('; ') ?? `is ${status}`);

function downReason(known: Supervised): string | null {
  if (known === undefined || known.status === 'running') return null;
  return known.last_exit === null ? `is ${known.status}` : `${known.status}: ${known.last_exit.reason}`;
}

function toInstanceStatus({ id, type, name, status, url, healthy, enabled, heartbeat, last_exit }: Instance): InstanceStatus {
  const isFine = healthy || (!enabled && status === 'stopped');
  const reason = isFine ? null : status === 'running' ? `heartbeat ${heartbeat}` : (last_exit?.reason ?? null);
  return { id, type, name, status, url, healthy: isFine, reason };
}

/** True when everything that should run does. */
export const isAllWell = ({ services, instances }: Status): boolean =>
  services.every(({ healthy }) => healthy) && instances.every(({ healthy }) => healthy);
