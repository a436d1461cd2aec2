import type { ListedSession } from './listed-session.ts';

/** What turns on one surface used. */
export type SurfaceTotals = {
  surface: string;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd: number;
  billed_cost_usd: number;
};

/** A session in the brief. Times are epoch ms. */
export type BriefSession = {
  conversation_key: string;
  surface: string | null;
  identity: string | null;
  principal: string | null;
  state: ListedSession['state'];
  last_event_at: number;
  last_text: string | null;
};

/** Answer of `GET /api/brief`. `since` is the start of the hour from which the totals count. */
export type Brief = { at: number; since: number; active: BriefSession[]; totals: SurfaceTotals[] };
