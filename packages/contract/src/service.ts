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
 * The fields of every `GET /health`. `degraded`: what does not work; `notices`: what works but is worth knowing.
 */
export type HealthInfo = { status: 'ok' | 'degraded' | 'stopping'; service: string; degraded?: string[]; notices?: string[] };

/** The engine in use, and why it was chosen. */
export type EngineChoice = { id: string; model: string | null; why: string };

/** `<data>/run/supervisor.json`: the host processes as their supervisor sees them. Written by `svc up`, read by anyone. */
export type SupervisorState = {
  pid: number;
  /** The start time of that process, as the system counts it: a pid alone may belong to another process by now. */
  born?: string | null;
  started_at: number;
  /** True: at SIGUSR2 it stops, and starts the version that is in place then. */
  starts_again?: boolean;
  /** The process that restarts it: that of a terminal or of a service manager. When that has ended, it is not restarted. */
  kept_by?: { pid: number; born: string | null };
  /** True when it was asked to stop for good. */
  is_stopping?: boolean;
  services: {
    name: string;
    url: string;
    pid: number | null;
    status: 'starting' | 'running' | 'backoff' | 'failed' | 'stopped';
    restarts: number;
    /** Consecutive exits without a minute of running in between. */
    failures: number;
    /** When the next attempt is due, epoch ms. */
    next_start_at: number | null;
    last_exit: LastExit | null;
    /** Its last output, oldest first, while it does not run. */
    last_lines: string[];
  }[];
  /** Faults of the supervisor itself, such as an unwritable log. */
  faults: string[];
};
