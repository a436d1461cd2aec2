import type { Method } from '../../parts/api.ts';
import type { StatusKind } from '../../parts/status.tsx';

/** What ends a row by itself: a call, or the place where it is ended. */
export type Remedy =
  | { kind: 'call'; words: string; method: Method; path: string; body?: object; changes: string[]; done: string }
  | { kind: 'link'; words: string; to: string };
/** One thing that needs the operator, most urgent kinds first. */
export type Need = { key: string; status: StatusKind; title: string; words: string; remedy: Remedy | null };
