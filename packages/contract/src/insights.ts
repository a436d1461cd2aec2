import type { ListedSession } from './session.ts';
import type { TelemetryEvent } from './event.ts';

/** What turns on one surface used, and what it cost together with side calls such as speech. */
export type SurfaceTotals = {
  surface: string;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
  billed_cost_usd: number;
  /** Turns and side calls without a known price. The costs do not include them. */
  unpriced: number;
};

/** A session in the brief. Times are epoch ms. */
export type BriefSession = {
  conversation_key: string;
  title: string | null;
  surface: string | null;
  identity: string | null;
  principal: string | null;
  state: ListedSession['state'];
  last_event_at: number;
  last_text: string | null;
};

/** Answer of `GET /api/brief`. `since` is the start of the hour from which the totals count. */
export type Brief = { at: number; since: number; active: BriefSession[]; totals: SurfaceTotals[] };

/** A session's work in one place. Times are epoch ms. */
export type SessionAtWork = {
  conversation_key: string;
  surface: string | null;
  /** The raw sender, and the key of the principal it resolved to. */
  identity: string | null;
  principal: string | null;
  /** A turn runs, or something happened in the last 15 minutes. */
  active: boolean;
  /** Newest touch of a file here. */
  last_at: number;
};

/** Where sessions work: the root of a git repository, or a folder outside of one. `shared`: more than one session works there. */
export type WorkPlace = { place: string; kind: 'repo' | 'folder'; shared: boolean; sessions: SessionAtWork[] };

/** Answer of `GET /api/map`, the place of the newest work first. `truncated`: not all sessions were examined. */
export type WorkMap = { since: number; places: WorkPlace[]; truncated: boolean };

/** Up to five of the paths that a session touched, newest first, and how often it touched any that count. */
export type Toucher = SessionAtWork & { touches: number; paths: { path: string; tool: string; last_at: number }[] };

/** Answer of `GET /api/who`, newest first. `truncated`: not everything was examined, so older touches may be missing. */
export type WhoTouched = { path: string; since: number; sessions: Toucher[]; truncated: boolean };

/** `off`: it is not enabled. `missing`: its libraries are not installed. */
export type OtelState = 'off' | 'missing' | 'installing' | 'on';

/** Answer of `GET /api/otel`. Counts are spans since the collector started; `error` is why nothing can be sent. */
export type OtelView = {
  state: OtelState;
  error: string | null;
  exported: number;
  failed: number;
  dropped: number;
  waiting: number;
};

/** A session with events whose text matches. Times are epoch ms. */
export type SearchedSession = {
  conversation_key: string;
  title: string | null;
  surface: string | null;
  /** The raw sender, and the key of the principal it resolved to. */
  identity: string | null;
  principal: string | null;
  /** A turn runs, or something happened in the last 15 minutes. */
  active: boolean;
  /** How many of the examined hits are in this session. */
  hits: number;
  last_hit_at: number;
  /** The newest event that matches, and its text around the first match. */
  event_id: string;
  snippet: string;
  /** The positions of the words in the snippet: the first character, and the one after the last. */
  highlights: [number, number][];
};

/**
 * Answer of `GET /api/search`, the session of the newest hit first. `capped`: older hits were not examined.
 * `complete`: every stored event is in the index.
 */
export type SearchAnswer = {
  q: string;
  since: number;
  sessions: SearchedSession[];
  hits: number;
  capped: boolean;
  complete: boolean;
};

/** A process of the service at one moment. `cpu_percent` is the share of one core since the previous sample. */
export type ProcessSample = {
  /** `core`, `manager`, …, or the id of a connector instance. */
  name: string;
  kind: 'supervisor' | 'host' | 'instance';
  pid: number;
  memory_bytes: number;
  cpu_percent: number;
};

/** The machine and the service's processes at one moment; `at` is epoch ms. Values that the system does not report are null. */
export type SystemSample = {
  at: number;
  /** Share of all cores together, 0 to 100. */
  cpu_percent: number;
  cores: number;
  load: [number, number, number];
  memory_used_bytes: number;
  memory_total_bytes: number;
  /** Of the disk that holds the data folder. */
  disk_used_bytes: number | null;
  disk_total_bytes: number | null;
  processes: ProcessSample[];
};

/** Answer of `GET /api/system`, newest first. */
export type SystemSamples = { samples: SystemSample[] };

/** A message that was pushed to a person; answer of `GET /api/notifications`, newest first. */
export type Notification = Pick<
  TelemetryEvent,
  'id' | 'ts' | 'kind' | 'surface' | 'session' | 'instance_id' | 'text' | 'payload'
>;
export type NotificationPage = { notifications: Notification[]; next_before: string | null };
