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

/** Where sessions work: the root of a git repository, or a folder that is in none. `shared`: more than one session does. */
export type WorkPlace = { place: string; kind: 'repo' | 'folder'; shared: boolean; sessions: SessionAtWork[] };

/** Answer of `GET /api/map`, the place of the newest work first. `truncated`: there are more sessions than were looked at. */
export type WorkMap = { since: number; places: WorkPlace[]; truncated: boolean };

/** Up to five of the paths that a session touched, newest first, and how often it touched any that count. */
export type Toucher = SessionAtWork & { touches: number; paths: { path: string; tool: string; last_at: number }[] };

/** Answer of `GET /api/who`, newest first. `truncated`: there is more than was looked at, so older touches may be missing. */
export type WhoTouched = { path: string; since: number; sessions: Toucher[]; truncated: boolean };
