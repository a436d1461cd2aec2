/** What the search thread is asked, and what it answers. Each question has an answer, in any order. */
export type SearchQuestion =
  /** Takes up to `limit` further events into the index. */
  | { type: 'index'; limit: number }
  /** Takes removed events out of the index. */
  | { type: 'forget'; seqs: number[] }
  | { type: 'find'; expression: string; since: number; sessions: number };

/** `seq`: number of the newest event that is in. `behind`: there is more to take in. */
export type IndexAnswer = { seq: number; behind: boolean };
export type FoundSession = { session: string; hits: number; id: string; ts: number; text: string };
export type FindAnswer = { sessions: FoundSession[]; hits: number; capped: boolean; complete: boolean };

export type SearchAnswers = { index: IndexAnswer; forget: null; find: FindAnswer };
export type Numbered<T> = T & { number: number };
export type SearchReply = { number: number } & ({ value: unknown } | { error: string });
