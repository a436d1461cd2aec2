export const instanceStatuses = ['stopped', 'starting', 'running', 'backoff', 'failed'] as const;
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

/** An instance with its live runtime status (decisions: Manager). */
export type Instance = InstanceConfig & {
  created_at: number;
  updated_at: number;
  status: InstanceStatus;
  pid: number | null;
  port: number | null;
  url: string | null;
  restarts: number;
  started_at: number | null;
  last_exit: LastExit | null;
  healthy: boolean;
  heartbeat: Heartbeat;
  last_heartbeat_at: number | null;
};
