import type { SearchedSession } from '@svc/contract/insights.ts';
import type { UsageSums } from '../usage/sum-usage.ts';

/** What the search thread is asked, and what it answers. Each question has an answer, in any order. */
export type SearchQuestion =
  /** Adds up to `limit` further events to the index. */
  | { type: 'index'; limit: number }
  /** Removes events from the index. */
  | { type: 'remove'; seqs: number[] }
  | FindQuestion
  /** Sums up what was used from an hour on: reads many rows too. */
  | { type: 'usage'; fromHour: number };

/** Times are epoch ms. `sessions`: how many are shown; those with an event since `activeSince` are active. */
export type FindQuestion = {
  type: 'find';
  expression: string;
  since: number;
  sessions: number;
  activeSince: number;
};

/** `seq`: number of the newest event that is in. `behind`: there is more to add. */
export type IndexAnswer = { seq: number; behind: boolean };
/** A session with the whole text of its newest hit, as it was stored. Null is for events of no session. */
export type FoundSession = Omit<SearchedSession, 'snippet' | 'highlights' | 'conversation_key'> & {
  conversation_key: string | null;
  text: string;
};
export type FindAnswer = { sessions: FoundSession[]; hits: number; capped: boolean; complete: boolean };

export type SearchAnswers = { index: IndexAnswer; remove: null; find: FindAnswer; usage: UsageSums };
export type Numbered<T> = T & { number: number };
export type SearchReply = { number: number } & ({ value: unknown } | { error: string });
