import type { SearchedSession } from '@svc/contract/search.ts';
import type { UsageSums } from '../usage/sum-usage.ts';

/** What the search thread is asked, and what it answers. Each question has an answer, in any order. */
export type SearchQuestion =
  /** Takes up to `limit` further events into the index. */
  | { type: 'index'; limit: number }
  /** Takes removed events out of the index. */
  | { type: 'forget'; seqs: number[] }
  | FindQuestion
  /** Sums up what was used from an hour on: reads many rows too. */
  | { type: 'usage'; fromHour: number };

/** Times are epoch ms. `sessions`: how many are shown; `words`: what is marked in them; those with an event since `activeSince` are active. */
export type FindQuestion = {
  type: 'find';
  expression: string;
  words: string[];
  since: number;
  sessions: number;
  activeSince: number;
};

/** `seq`: number of the newest event that is in. `behind`: there is more to take in. */
export type IndexAnswer = { seq: number; behind: boolean };
export type FindAnswer = { sessions: SearchedSession[]; hits: number; capped: boolean; complete: boolean };

export type SearchAnswers = { index: IndexAnswer; forget: null; find: FindAnswer; usage: UsageSums };
export type Numbered<T> = T & { number: number };
export type SearchReply = { number: number } & ({ value: unknown } | { error: string });
