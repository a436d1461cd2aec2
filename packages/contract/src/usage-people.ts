import type { UsageAux, UsageRollup } from './usage.ts';

type Sums = Omit<UsageRollup, 'bucket_hour' | 'surface' | 'identity' | 'principal'>;

/** What somebody used: a principal with all linked handles, or one handle that is linked to nobody. */
export type UsagePerson = Sums & {
  /** Key of the principal; null: not linked. */
  principal: string | null;
  /** The principal's display name; null when nobody knows it. */
  name: string | null;
  /** Where it was used, and under which handle; a principal's own turns stand under its key. */
  handles: { surface: string; identity: string }[];
};

/** Side calls, which are nobody's, over the whole time. */
export type UsageSide = Omit<UsageAux, 'bucket_hour'>;

/**
 * Answer of `GET /api/usage/people`, who used most first. `links_known`: the core said who is linked to whom; without it
 * only what was recorded with a principal is folded. `truncated`: there are more handles than are looked at.
 */
export type UsageByPerson = { since: number; people: UsagePerson[]; side: UsageSide[]; links_known: boolean; truncated: boolean };
