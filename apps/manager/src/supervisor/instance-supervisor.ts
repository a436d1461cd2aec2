import path from 'node:path';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { WatchVault } from '@svc/service-kit/vault/create-vault-client.ts';
import { createPidFile } from '@svc/supervisor/pid-file.ts';
import type { LogLine } from '@svc/supervisor/child-spec.ts';
import { readLogTail } from '@svc/supervisor/log-file.ts';
import { describeOwner, findPortOwner } from '@svc/supervisor/port-owner.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';
import type { Endpoint } from './run-pass.ts';
import { notRunning, type RuntimeStatus } from './runtime-status.ts';
import { createVaultGate } from './vault-gate.ts';
import { SupervisedInstance } from './supervised-instance.ts';

/** What `/health` reports about an instance that should run but does not. */
export type DownInstance = Pick<RuntimeStatus, 'status' | 'reason' | 'next_start_at'> & { id: string };

/** The processes of all instances. Promises resolve once the outcome is known, success or failure; they never reject. */
export type InstanceSupervisor = {
  start(instance: InstanceConfig): Promise<void>;
  /** Ends the process, if there is one, and starts it with this config. */
  restart(instance: InstanceConfig): Promise<void>;
  /** Resolves when the process is gone. */
  stop(id: string): Promise<void>;
  /** Stops and forgets. */
  remove(id: string): Promise<void>;
  statusOf(id: string): RuntimeStatus;
  /** The last lines, including those of earlier managers. */
  logs(id: string): LogLine[];
  /** Where the process of this instance takes messages; null while it cannot. */
  endpointOf(id: string): Endpoint | null;
  /** The id of the current run of an instance that is alive. It changes with every restart, and when the heartbeat returns. */
  aliveRunOf(id: string): string | null;
  /** Masks every secret that was given to an instance. */
  mask(text: string): string;
  /** Faults other than those of an instance itself, one line each: logs that cannot be written. */
  faults(): string[];
  /** Instances that should run but do not: they have failed, or wait for their next start or for the vault. */
  down(): DownInstance[];
  /** `listener` is called whenever an instance starts to run or sends a heartbeat. There is only one listener. */
  onAlive(listener: (id: string) => void): void;
  /** Ends processes that a killed manager left behind. */
  reap(): Promise<void>;
  /** Stops all at once; nothing starts afterwards. */
  stopAll(): Promise<void>;
};

/** On Linux a sample is a read of `/proc`; elsewhere it runs a program. */
const usageEveryMs = process.platform === 'linux' ? 2_000 : 10_000;
/** Children end by themselves when their manager is gone; a new manager gives them this long. */
const reapGraceMs = 700;

/** `watchVault`: null without a vault. */
type Vault = { watchVault: WatchVault | null };

type Supervisor = {
  deps: SupervisorDeps;
  instances: Map<string, SupervisedInstance>;
  /** Instances that cannot be started, and since when. */
  unusable: Map<string, { reason: string; at: number }>;
  isStopping: boolean;
};

export function createInstanceSupervisor({
  watchVault,
  ...options
}: Omit<SupervisorDeps, 'pidFile' | 'onAlive' | 'explainExit' | 'vaultGate'> & Vault): InstanceSupervisor {
  let onAlive: (id: string) => void = () => undefined;
  const instances: Supervisor['instances'] = new Map();
  const vaultGate = createVaultGate(watchVault, options.clock);
  const deps: SupervisorDeps = {
    ...options,
    vaultGate,
    pidFile: createPidFile(path.join(options.paths.run, 'instances.json')),
    onAlive: (id) => onAlive(id),
    explainExit: (reason) => explainPortClash(reason, { idOfPid: (pid) => idOfPid(instances, pid), mask: options.maskLine }),
  };
  const supervisor: Supervisor = { deps, instances, unusable: new Map(), isStopping: false };
  const { unusable } = supervisor;
  const stopSampling = deps.clock.every(usageEveryMs, () => {
    for (const instance of instances.values()) void instance.sampleUsage();
  });

  return {
    start: async (config) => prepare(supervisor, config)?.start(),
    restart: async (config) =>
      prepare(supervisor, config) === null ? instances.get(config.id)?.stop() : instances.get(config.id)?.restart(),
    async stop(id) {
      unusable.delete(id);
      await instances.get(id)?.stop();
    },
    async remove(id) {
      const instance = instances.get(id);
      unusable.delete(id);
      await instance?.stop();
      instance?.close();
      instances.delete(id);
    },
    statusOf: (id) => statusOf(supervisor, id),
    logs: (id) => instances.get(id)?.logs() ?? readLogTail(path.join(deps.paths.logs, `instance-${id}.log`)),
    endpointOf: (id) => instances.get(id)?.endpoint() ?? null,
    aliveRunOf: (id) => instances.get(id)?.aliveRun() ?? null,
    mask: (text) => [...instances.values()].reduce((masked, instance) => instance.mask(masked), text),
    faults: () => [...instances].flatMap(([id, instance]) => logFaultOf(id, instance) ?? []),
    down: () => [...new Set([...instances.keys(), ...unusable.keys()])].flatMap((id) => downOf(supervisor, id) ?? []),
    onAlive(listener) {
      onAlive = listener;
    },
    async reap() {
      const hung = await deps.pidFile.reap(reapGraceMs);
      if (hung.length > 0) deps.log.warn({ instances: hung }, 'ended processes that an earlier manager left behind');
    },
    async stopAll() {
      supervisor.isStopping = true;
      stopSampling();
      vaultGate.close();
      await Promise.all([...instances.values()].map((instance) => instance.stop()));
      for (const instance of instances.values()) instance.close();
    },
  };
}

/** The instance ready to start with its config checked again: a type may have changed since it was stored. */
function prepare({ deps, instances, unusable, isStopping }: Supervisor, config: InstanceConfig): SupervisedInstance | null {
  if (isStopping) return null;
  unusable.delete(config.id);
  try {
    const type = deps.types.find(config.type);
    if (type === null) throw new Error(deps.types.whyNot(config.type));
    const current = { ...config, config: deps.types.validate(type.meta, config.config) };
    const instance = instances.get(config.id) ?? new SupervisedInstance(deps, current);
    instances.set(config.id, instance);
    instance.configure(current, type);
    return instance;
  } catch (error) {
    unusable.set(config.id, { reason: errorText(error), at: deps.clock.now() });
    deps.log.error({ instance: config.id }, `instance cannot be started: ${errorText(error)}`);
    return null;
  }
}

function statusOf({ instances, unusable }: Supervisor, id: string): RuntimeStatus {
  const status = instances.get(id)?.status() ?? notRunning;
  const problem = unusable.get(id);
  if (problem === undefined) return status;
  const { reason, at } = problem;
  return { ...status, status: 'failed', reason, last_exit: { code: null, signal: null, at, reason } };
}

function downOf(supervisor: Supervisor, id: string): DownInstance | null {
  const { status, reason, next_start_at } = statusOf(supervisor, id);
  const isDown = status === 'failed' || status === 'backoff' || status === 'waiting';
  return isDown ? { id, status, reason, next_start_at } : null;
}

function logFaultOf(id: string, instance: SupervisedInstance): string | null {
  const fault = instance.logFault();
  return fault === null ? null : `the log of the instance "${id}" cannot be written and has gaps (${fault})`;
}

const idOfPid = (instances: Supervisor['instances'], pid: number): string | null =>
  [...instances].find(([, instance]) => instance.status().pid === pid)?.[0] ?? null;

/**
 * Names the owner of a port that a process could not open, because the process itself knows only that it is in use. Null
 * for any other reason, or if the system does not tell. `mask` removes secrets from the command line of a program.
 */
async function explainPortClash(
  reason: string,
  { idOfPid, mask }: { idOfPid: (pid: number) => string | null; mask: (text: string) => string },
): Promise<string | null> {
  // The wording of the kit (`startFailure`).
  const port = Number(/^Port (\d{1,5}) is in use/.exec(reason)?.[1] ?? 0);
  if (port === 0) return null;
  const owner = await findPortOwner(port);
  if (owner === null) return null;
  const id = idOfPid(owner.pid);
  const who = id === null ? describeOwner({ ...owner, program: mask(owner.program) }) : `the instance "${id}"`;
  return `Port ${port} is in use by ${who}. Stop it or choose another port for this instance.`;
}
