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

/** How a process ended last: exit code or signal, when (epoch ms), and the last line it logged. */
export type LastExit = { code: number | null; signal: string | null; at: number; reason: string };

/** What a process used lately: resident memory, and the share of one core since the sample before. `at` is epoch ms. */
export type ProcessUsage = { memory_bytes: number; cpu_percent: number; at: number };

/** An instance with its live runtime status (decisions: Manager). */
export type Instance = InstanceConfig & {
  created_at: number;
  updated_at: number;
  /** `waiting`: for the vault; it starts by itself when that is open. */
  status: InstanceStatus;
  /** Why it does not run although it should, for a person; null when it runs, starts or is not meant to. */
  reason: string | null;
  pid: number | null;
  port: number | null;
  url: string | null;
  /** What the connector says to who has added it: where its channel is found, and what to do next. Null while it does not run, and for most types. */
  first_steps: string | null;
  /** An address that opens the channel and gives the code of an invitation there, with `{code}` in its place. Null where there is none. */
  invite_link: string | null;
  restarts: number;
  /** Epoch ms of the next start, while it waits for it after a crash. */
  next_start_at: number | null;
  started_at: number | null;
  last_exit: LastExit | null;
  healthy: boolean;
  heartbeat: Heartbeat;
  last_heartbeat_at: number | null;
  /** Null without a process, and in its first moments. */
  usage: ProcessUsage | null;
};
