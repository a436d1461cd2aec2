/** `GET /v2/update/status`. Times are epoch ms. */
export type UpdateStatus = {
  /** True when something else, `manager`, updates this installation. */
  managed: boolean;
  manager: string | null;
  channel: 'stable' | 'edge';
  /** Whether a new version is installed automatically. */
  auto: boolean;
  version: string;
  sha: string;
  /** The running update; null without one. */
  running: { phase: string; from: string; to: string; started_at: number } | null;
  /** The result of the last update to another version; `code` is the exit code of `svc update`. */
  last: { code: number; words: string; from: string; to: string; ended_at: number; gap_ms: number | null } | null;
  /** The result of the last check of the remote; null before the first. */
  check: UpdateCheck | null;
};

/**
 * `code`: 0 when there is an update, 4 when there is none, 3 when the check failed or the published version is invalid
 * (`refused`), for instance because of its signature.
 */
export type UpdateCheck = {
  code: number;
  words: string;
  to: { name: string; commit: string } | null;
  checked_at: number;
  refused?: boolean;
};

/** `POST /v2/update/run`. */
export type UpdateRun = { managed: true; manager: string } | { managed: false; started: true };
