import type { Method } from '../../parts/api.ts';
import type { StatusKind } from '../../parts/status.tsx';

/** What resolves a row: a call, or a link to the screen where it is resolved. */
export type Remedy =
  | { kind: 'call'; words: string; method: Method; path: string; body?: object; changes: string[]; done: string }
  | { kind: 'link'; words: string; to: string };
/** One thing that needs the operator, most urgent kinds first. */
export type Need = { key: string; status: StatusKind; title: string; words: string; remedy: Remedy | null };
