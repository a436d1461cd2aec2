/** A session with events whose text matches. Times are epoch ms. */
export type SearchedSession = {
  conversation_key: string;
  surface: string | null;
  /** The raw sender, and the key of the principal it resolved to. */
  identity: string | null;
  principal: string | null;
  /** A turn runs, or something happened in the last 15 minutes. */
  active: boolean;
  /** Of the hits that were looked at. */
  hits: number;
  last_hit_at: number;
  /** The newest event that matches, and its text around the first match. */
  event_id: string;
  snippet: string;
  /** Where the words stand in the snippet: first character, and the one after the last. */
  highlights: [number, number][];
};

/**
 * Answer of `GET /api/search`, the session of the newest hit first. `capped`: there are older hits that were not looked at.
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
