import type { Identity } from './trust.ts';

/** A sender who was denied because the identifier belongs to no principal. Times are epoch ms. */
export type PendingIdentity = {
  id: string;
  surface: string;
  value: string;
  /** The name from the channel, without characters that could mislead a reader. */
  name: string | null;
  first_seen: number;
  last_seen: number;
  count: number;
  /** The valid pairing code as the sender sees it, `ABCD-EFGH`. */
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
  /** The role of a new principal; null when the identifier was linked to an existing one. */
  role: string | null;
  /** The sender's trust from now on. */
  trust: Identity;
};

/** An invitation for a person who has not written yet. Its code is not stored. Times are epoch ms. */
export type Invitation = {
  id: string;
  /** Key of the person who gets a new identifier by it; null for a new person. */
  principal: string | null;
  /** The name and role of a new person. Without a name, the sender's is used. */
  name: string | null;
  role: string | null;
  /** The only channel on which it can be used; null for any. */
  surface: string | null;
  created_by: string;
  created_at: number;
  expires_at: number;
};

/** The result of creating one: the code is shown only here. */
export type NewInvitation = { ok: true; code: string; invitation: Invitation };
