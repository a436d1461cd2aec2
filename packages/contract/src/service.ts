import type { LastExit } from './instance.ts';

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
 * Fields every `GET /health` has; `degraded` says what does not work; `notices` what works and is worth
 * knowing.
 */
export type HealthInfo = { status: 'ok' | 'degraded' | 'stopping'; service: string; degraded?: string[]; notices?: string[] };

/** What the running engine is and why it was chosen. */
export type EngineChoice = { id: string; model: string | null; why: string };

/** `<data>/run/supervisor.json`: the host processes as their supervisor sees them. Written by `svc up`, read by anyone. */
export type SupervisorState = {
  pid: number;
  /** When that process was born, as the system counts: a pid alone may be another one's by now. */
  born?: string | null;
  started_at: number;
  /** At SIGUSR2 it stops, and starts the version that is in place then. */
  starts_again?: boolean;
  /** The process that does that: that of a terminal or of a service manager. When it is gone, nothing starts it again. */
  kept_by?: { pid: number; born: string | null };
  /** It was asked to end, for good. */
  is_stopping?: boolean;
  services: {
    name: string;
    url: string;
    pid: number | null;
    status: 'starting' | 'running' | 'backoff' | 'failed' | 'stopped';
    restarts: number;
    /** Exits in a row without a minute of running in between. */
    failures: number;
    /** Epoch ms of the next attempt, while it waits for it. */
    next_start_at: number | null;
    last_exit: LastExit | null;
    /** What it wrote last, oldest first, while it does not run. */
    last_lines: string[];
  }[];
  /** What the supervisor itself cannot do, such as writing a log. */
  faults: string[];
};
