/** `GET /version` of every process. `sha` is captured at process start and proves that a restart landed. */
export type VersionInfo = {
  service: string;
  version: string;
  channel: string;
  sha: string;
  started_at: number;
  node: string;
};

/**
 * Fields every `GET /health` has; `degraded` lists what does not work, in words; `notices` what works and is worth
 * knowing.
 */
export type HealthInfo = { status: 'ok' | 'degraded' | 'stopping'; service: string; degraded?: string[]; notices?: string[] };

/** What the running engine is and why it was chosen. */
export type EngineChoice = { id: string; model: string | null; why: string };

/** `<data>/run/supervisor.json`: the host processes as their supervisor sees them. Written by `svc up`, read by anyone. */
export type SupervisorState = {
  pid: number;
  started_at: number;
  services: {
    name: string;
    url: string;
    pid: number | null;
    status: 'starting' | 'running' | 'backoff' | 'failed' | 'stopped';
    restarts: number;
    last_exit: { code: number | null; signal: string | null; at: number; reason: string } | null;
  }[];
};
