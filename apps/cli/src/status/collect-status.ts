import type { DeliveryCounts } from '@svc/contract/delivery.ts';
import type { Instance, LastExit } from '@svc/contract/instance.ts';
import type { EngineChoice, HealthInfo, SupervisorState, VersionInfo } from '@svc/contract/service.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { silence } from '../connector/silence.ts';
import { coreUrl, hostAddresses, type HostAddress } from '../service-urls.ts';
import { listInstances } from '../up/ask-services.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { readSupervisorState } from '../up/state-file.ts';
import { ask, notThere, type Answer } from './ask.ts';
import { askCore, type CoreAnswers } from './ask-core.ts';
import { foreignAnswer } from './who-answers.ts';

export type ServiceStatus = {
  name: string;
  url: string;
  pid: number | null;
  healthy: boolean;
  version: string | null;
  sha: string | null;
  /** `away` when it is not running. */
  status: SupervisorState['services'][number]['status'] | 'away';
  restarts: number;
  /** Exits in a row, each after less than a minute of running. */
  failures: number;
  /** Epoch ms of the next attempt, while it waits for one. */
  next_start_at: number | null;
  last_exit: LastExit | null;
  /** Its last output, while it is not running. */
  last_lines: string[];
  started_at: number | null;
  /** The problem, for a person; null when there is none. */
  reason: string | null;
  /** The command that fixes it. */
  fix: string | null;
  /** Facts worth knowing that are not problems, such as a spending limit that is near. */
  notices: string[];
};

export type InstanceStatus = Pick<Instance, 'id' | 'type' | 'name' | 'status' | 'url' | 'healthy' | 'next_start_at'> & {
  reason: string | null;
  /** The command that fixes it. */
  fix: string | null;
};

/** The work of the core; null while it does not answer. */
export type CoreLoad = { turns: { running: number; waiting: number } | null; deliveries: DeliveryCounts | null };

export type Status = CoreLoad & {
  /** `faults`: what it cannot do itself, such as writing a log. */
  supervisor: { pid: number; started_at: number; faults: string[] } | null;
  services: ServiceStatus[];
  instances: InstanceStatus[];
  engine: EngineChoice | null;
};

/** The fields that only the core's health has. */
type Health = HealthInfo & { active?: number; waiting?: number; deliveries?: DeliveryCounts };

const askTimeoutMs = 1000;

/** The state as reported by the supervisor and the processes themselves. Takes about a second, at most three when the core answers slowly. */
export async function collectStatus(settings: CliSettings, core: CoreAnswers = askCore(coreUrl(settings))): Promise<Status> {
  const supervisor = readSupervisorState(dataPaths(settings.dataDir).supervisorState);
  const { faults = [] } = supervisor ?? {};
  const addresses = hostAddresses(settings).map((address) => ({
    ...address,
    url: supervised(supervisor, address.name)?.url ?? address.url,
  }));
  const urlOf = (name: string) => addresses.find((address) => address.name === name)?.url ?? '';
  const [services, instances] = await Promise.all([
    Promise.all(addresses.map((address) => serviceOf(settings, address, supervisor))),
    listInstances({ url: urlOf('manager'), token: settings.managerToken }, askTimeoutMs),
  ]);
  const health = services.find(({ status }) => status.name === 'core')?.health;
  if (health?.ok !== true) core.giveUp();
  const isOurs = (name: string) => services.some((service) => service.status.name === name && !service.isForeign);
  return {
    supervisor: supervisor === null ? null : { pid: supervisor.pid, started_at: supervisor.started_at, faults },
    services: services.map((service) => service.status),
    instances: isOurs('manager') ? await Promise.all(instances.map((instance) => toInstanceStatus(instance, settings))) : [],
    engine: isOurs('core') ? await engineOf(core) : null,
    ...toCoreLoad(isOurs('core') ? health : undefined),
  };
}

/** A process that was set up after the start, such as a vault. */
export const startsLater = 'starts with the next ./svc up: stop the service and start it again';

/** The reason is on the terminal of the supervisor. */
export const restart = 'stop ./svc up and start it again';

/** The supervisor records every change, unless it cannot write. */
const outdated = 'has ended, and its supervisor could not write that down (a full disk?): see what ./svc up printed';

type Supervised = SupervisorState['services'][number] | undefined;
const supervised = (state: SupervisorState | null, name: string): Supervised =>
  state?.services.find((service) => service.name === name);

/** The part of a process's answers that can be trusted: another installation may use its port. */
async function serviceOf(settings: CliSettings, address: HostAddress, supervisor: SupervisorState | null) {
  const { name, url } = address;
  const known = supervised(supervisor, name);
  const answer = await askService(address, name === 'manager' ? settings.managerToken : null);
  const isThere = answer.health.ok || answer.health.why !== notThere;
  const foreign = isThere ? await foreignAnswer(url, known, settings.dataDir) : null;
  if (foreign === null)
    return { status: toServiceStatus(answer, known, supervisor !== null), health: answer.health, isForeign: false };
  const none = { ok: false, why: foreign.reason } as const;
  const status = toServiceStatus({ ...answer, health: none, version: none }, undefined, false);
  const fix = foreign.pid === null ? await moveTo(settings, address) : `kill ${foreign.pid}`;
  return { status: { ...status, fix }, health: none, isForeign: true };
}

/** The command that moves our process to a free port. Its code is loaded only when there is a problem. */
async function moveTo({ bindHost }: CliSettings, { setting, port }: HostAddress): Promise<string> {
  const [{ findFreePort }, { moveCommand }] = await Promise.all([
    import('@svc/supervisor/port-owner.ts'),
    import('../up/move-ports.ts'),
  ]);
  return `${moveCommand([{ setting, port: await findFreePort(bindHost, port) }])} ./svc up`;
}

async function engineOf({ engines }: CoreAnswers): Promise<EngineChoice | null> {
  const answer = await engines;
  return answer.ok ? (answer.body.current ?? null) : null;
}

type ServiceAnswer = Pick<HostAddress, 'name' | 'url'> & { health: Answer<Health>; version: Answer<VersionInfo> };

async function askService({ name, url }: HostAddress, token: Secret | null): Promise<ServiceAnswer> {
  const timeoutMs = askTimeoutMs;
  const [health, version] = await Promise.all([
    ask<Health>(`${url}/health`, { timeoutMs }),
    ask<VersionInfo>(`${url}/version`, { timeoutMs, token }),
  ]);
  return { name, url, health, version };
}

function toServiceStatus({ name, url, health, version }: ServiceAnswer, known: Supervised, isUp: boolean): ServiceStatus {
  const isLater = isUp && known === undefined;
  const fault = health.ok ? healthFault(health.body) : isLater ? startsLater : (downReason(known) ?? health.why);
  return {
    name,
    url,
    pid: livingPid(known),
    healthy: fault === null,
    version: version.ok ? version.body.version : null,
    sha: version.ok ? version.body.sha : null,
    status: health.ok ? 'running' : (known?.status ?? 'away'),
    restarts: known?.restarts ?? 0,
    failures: known?.failures ?? 0,
    next_start_at: health.ok ? null : (known?.next_start_at ?? null),
    last_exit: known?.last_exit ?? null,
    last_lines: health.ok ? [] : (known?.last_lines ?? []),
    started_at: version.ok ? version.body.started_at : null,
    reason: fault,
    fix: fault === null ? null : isLater ? restart : `./svc logs ${name}`,
    notices: health.ok ? (health.body.notices ?? []) : [],
  };
}

function toCoreLoad(health: Answer<Health> | undefined): CoreLoad {
  if (health?.ok !== true) return { turns: null, deliveries: null };
  const { active, waiting, deliveries = null } = health.body;
  return { turns: active === undefined || waiting === undefined ? null : { running: active, waiting }, deliveries };
}

const healthFault = ({ status, degraded }: HealthInfo): string | null =>
  status === 'ok' ? null : (degraded?.join('; ') ?? `is ${status}`);

/** The pid of an ended process is left out: another process may have it by now. */
function livingPid(known: Supervised): number | null {
  const pid = known?.pid ?? null;
  return pid !== null && isAlive(pid) ? pid : null;
}

function downReason(known: Supervised): string | null {
  if (known === undefined) return null;
  if (known.status === 'running') return known.pid !== null && isAlive(known.pid) ? null : outdated;
  return known.last_exit === null ? `is ${known.status}` : `${known.status}: ${known.last_exit.reason}`;
}

async function toInstanceStatus(instance: Instance, settings: CliSettings): Promise<InstanceStatus> {
  const { id, type, name, status, url, healthy, enabled, next_start_at } = instance;
  const isFine = healthy || (!enabled && status === 'stopped');
  const reason = isFine ? null : (instance.reason ?? (status === 'running' ? silence(instance) : null));
  const fix = isFine ? null : await (await import('./fixes.ts')).fixOfInstance(instance, reason, settings.bindHost);
  return { id, type, name, status, url, healthy: isFine, reason, next_start_at, fix };
}

/** True when everything that should run does. */
export const isAllWell = ({ supervisor, services, instances }: Status): boolean =>
  (supervisor?.faults ?? []).length === 0 &&
  services.every(({ healthy }) => healthy) &&
  instances.every(({ healthy }) => healthy);
