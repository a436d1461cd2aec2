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

/** A code that the operator made for a person who has not written yet. The code itself is kept nowhere. Times are epoch ms. */
export type Invitation = {
  id: string;
  /** Key of the person whose way in it is going to be; null for a new person. */
  principal: string | null;
  /** Of a new person: name and role. Without a name they are named after the sender. */
  name: string | null;
  role: string | null;
  /** The only channel on which it can be used; null for any. */
  surface: string | null;
  created_by: string;
  created_at: number;
  expires_at: number;
};

/** What making one gives: the only time that the code is shown. */
export type NewInvitation = { ok: true; code: string; invitation: Invitation };
