import type { Identity } from './trust.ts';

/** A sender who was denied because no principal has this identifier. Times are epoch ms. */
export type PendingIdentity = {
  id: string;
  surface: string;
  value: string;
  /** The name the channel gave, without signs that could fool a reader. */
  name: string | null;
  first_seen: number;
  last_seen: number;
  count: number;
  /** The live pairing code as the sender was shown it, `ABCD-EFGH`. */
  code: string | null;
  code_expires_at: number | null;
};

/** What linking a pending identity did. */
export type LinkResult = {
  ok: true;
  principal: { id: string; key: string; display_name: string; is_new: boolean };
  identifier: { id: string; surface: string; value: string };
  /** What the sender calls themselves. */
  sender_name: string | null;
  /** Role of a principal made for it; null when an existing one was linked to. */
  role: string | null;
  /** What the sender is from now on. */
  trust: Identity;
};
