import type { Instance, InstanceConfig } from '@svc/contract/instance.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { ChildState } from '@svc/supervisor/child-spec.ts';
import type { HeartbeatState } from './heartbeat.ts';
import { portIn } from './run-pass.ts';

/** The state of an instance, in addition to what is stored. */
export type RuntimeStatus = Omit<Instance, keyof InstanceConfig | 'created_at' | 'updated_at'>;

export const notRunning: RuntimeStatus = {
  status: 'stopped',
  reason: null,
  pid: null,
  port: null,
  url: null,
  first_steps: null,
  invite_link: null,
  restarts: 0,
  next_start_at: null,
  started_at: null,
  last_exit: null,
  healthy: false,
  heartbeat: 'unknown',
  last_heartbeat_at: null,
  usage: null,
};

/** Far more than a terminal should show. */
const longestSteps = 2000;
const longestLink = 1000;

type Known = {
  liveness: HeartbeatState;
  usage: RuntimeStatus['usage'];
  reasonOf: (reason: string) => string;
  /** The problem that the running connector reports. */
  problem: string | null;
  /** Why it waits for the vault; null if it does not. */
  waits: string | null;
  mask: (text: string) => string;
};

export function toRuntimeStatus(child: ChildState, { liveness, problem, usage, reasonOf, waits, mask }: Known): RuntimeStatus {
  const { pid, restarts, startedAt, nextStartAt, lastExit, ready } = child;
  const status = waits === null ? child.status : 'waiting';
  const exit = lastExit === null ? null : { ...lastExit, reason: reasonOf(lastExit.reason) };
  return {
    status,
    reason:
      status === 'running' ? problem : (waits ?? (status === 'backoff' || status === 'failed' ? (exit?.reason ?? null) : null)),
    pid,
    port: portIn(ready, 'port') ?? portIn(ready, 'outboundPort'),
    url: typeof ready?.['url'] === 'string' ? ready['url'] : null,
    first_steps: stepsIn(ready?.['first_steps'], mask),
    invite_link: inviteLinkIn(ready?.['invite_link'], mask),
    restarts,
    next_start_at: nextStartAt,
    started_at: startedAt,
    last_exit: exit,
    healthy: status === 'running' && liveness.heartbeat !== 'stale' && problem === null,
    ...liveness,
    usage,
  };
}

/** The invited person opens it, so it must be a web address. */
const inviteLinkIn = (value: unknown, mask: Known['mask']): string | null =>
  typeof value === 'string' && value.length <= longestLink && /^https?:\/\/[^\s\p{C}]+$/u.test(value) && value.includes('{code}')
    ? mask(value)
    : null;

const stepsIn = (value: unknown, mask: Known['mask']): string | null =>
  typeof value === 'string' ? cutText(mask(value.toWellFormed()), longestSteps) : null;
