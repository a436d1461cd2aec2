/** `GET /v2/update/status`. Times are epoch ms. */
export type UpdateStatus = {
  /** Something else keeps this installation up to date: `manager`. */
  managed: boolean;
  manager: string | null;
  channel: 'stable' | 'edge';
  /** Whether what is found is installed without being asked for. */
  auto: boolean;
  version: string;
  sha: string;
  /** An update that runs; null when none does. */
  running: { phase: string; from: string; to: string; started_at: number } | null;
  /** How the last one ended that found something to go to; `code` as `svc update` ends. */
  last: { code: number; words: string; from: string; to: string; ended_at: number; gap_ms: number | null } | null;
  /** What the last look at the remote found; null before there was one. */
  check: UpdateCheck | null;
};

/**
 * `code`: 0 when there is an update, 4 when there is none, 3 when it could not be found out, or what is published is not in order (`refused`), such as its
 * signature.
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
