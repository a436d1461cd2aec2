import type { Heartbeat, InstanceConfig, InstanceStatus } from '@svc/contract/instance.ts';
import type { ChildState } from '@svc/supervisor/child-spec.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

/** Reports about one instance, to the log and as events. */
export type InstanceReports = {
  /** `reason`: why it waits or has failed. */
  state(state: Omit<ChildState, 'status'> & { status: InstanceStatus }, reason: string | null): void;
  heartbeat(heartbeat: Heartbeat): void;
  /** The problem that the connector reports; null when it is gone. */
  problem(text: string | null): void;
};

type Deps = Pick<SupervisorDeps, 'log' | 'telemetry'>;

export function createInstanceReports(
  { log, telemetry }: Deps,
  { id, type }: Pick<InstanceConfig, 'id' | 'type'>,
): InstanceReports {
  const emit = (text: string, payload: Record<string, unknown>) =>
    telemetry.emit({ kind: 'instance', instance_id: id, surface: type, text, payload });
  return {
    state({ status, pid, restarts }, reason) {
      const level = reason === null ? 'info' : 'warn';
      log[level]({ instance: id, pid, reason }, `instance is ${status}`);
      emit(`${id} is ${status}${reason === null ? '' : `: ${reason}`}`, { status, pid, restarts, reason });
    },
    heartbeat(heartbeat) {
      log.warn({ instance: id, heartbeat }, 'the heartbeat changed');
      emit(`${id}: heartbeat ${heartbeat}`, { heartbeat });
    },
    problem(text) {
      log.warn({ instance: id, problem: text }, text === null ? 'the channel works again' : 'the channel has a problem');
      emit(text === null ? `${id} works again` : `${id} has a problem: ${text}`, { problem: text });
    },
  };
}
