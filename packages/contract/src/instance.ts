export const instanceStatuses = ['stopped', 'starting', 'running', 'waiting', 'backoff', 'failed'] as const;
export type InstanceStatus = (typeof instanceStatuses)[number];
export type Heartbeat = 'fresh' | 'stale' | 'unknown';

/** Stored fields of a connector instance (spec: Connector instance). */
export type InstanceConfig = {
  id: string;
  type: string;
  name: string;
  enabled: boolean;
  config: Record<string, unknown>;
};

/** The last end of a process: exit code or signal, time (epoch ms), and reason. */
export type LastExit = { code: number | null; signal: string | null; at: number; reason: string };

/** The recent usage of a process: resident memory, and the share of one core since the previous sample. `at` is epoch ms. */
export type ProcessUsage = { memory_bytes: number; cpu_percent: number; at: number };

/** An instance with its live runtime status (decisions: Manager). */
export type Instance = InstanceConfig & {
  created_at: number;
  updated_at: number;
  /** `waiting`: for the vault; it starts automatically when that is unsealed. */
  status: InstanceStatus;
  /** Why it does not run although it should, for a person to read; null when it runs, starts or is disabled. */
  reason: string | null;
  pid: number | null;
  port: number | null;
  url: string | null;
  /** The connector's instructions for whoever added it: where its channel is, and what to do next. Null while it does not run, and for most types. */
  first_steps: string | null;
  /** A link that opens the channel with the code of an invitation, as a template with `{code}`. Null without one. */
  invite_link: string | null;
  restarts: number;
  /** When the next start after a crash is due, epoch ms. */
  next_start_at: number | null;
  started_at: number | null;
  last_exit: LastExit | null;
  healthy: boolean;
  heartbeat: Heartbeat;
  last_heartbeat_at: number | null;
  /** Null without a process, and shortly after its start. */
  usage: ProcessUsage | null;
};
