import type { SearchedSession } from '@svc/contract/insights.ts';
import type { UsageSums } from '../usage/sum-usage.ts';

/** The questions to the search thread. Each gets an answer, in any order. */
export type SearchQuestion =
  /** Adds up to `limit` further events to the index. */
  | { type: 'index'; limit: number }
  /** Removes events from the index. */
  | { type: 'remove'; seqs: number[] }
  | FindQuestion
  /** Sums up the usage from an hour on, which also reads many rows. */
  | { type: 'usage'; fromHour: number };

/** Times are epoch ms. `sessions`: how many are shown; those with an event since `activeSince` are active. */
export type FindQuestion = {
  type: 'find';
  expression: string;
  since: number;
  sessions: number;
  activeSince: number;
};

/** `seq`: the newest event in the index. `behind`: there are more events to add. */
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
