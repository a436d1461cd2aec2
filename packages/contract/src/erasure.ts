import type { Identifier, Principal } from './trust.ts';

/** A conversation that a person took part in. `is_shared`: others spoke in it, too. */
export type ErasedConversation = { key: string; is_shared: boolean };

/** What erasing a person removes and what it leaves (`GET /trust/principals/:id/erasure`). */
export type ErasurePlan = {
  principal: Pick<Principal, 'id' | 'key' | 'display_name'>;
  removes: {
    names: Pick<Identifier, 'surface' | 'value'>[];
    /** The first hundred; `conversation_count` counts all of them. */
    conversations: ErasedConversation[];
    conversation_count: number;
    files: number;
    file_bytes: number;
    budgets: number;
    /** Notes for their conversations, or for them. */
    announcements: number;
  };
  stays: { what: string; why: string }[];
  /** Why it cannot be done now, for a person; null when it can. */
  refused: string | null;
  /** It was asked for, and is not done yet. */
  is_under_way: boolean;
};

/** What was removed. After an interruption only what was left by then. */
export type Erased = { ok: true; principal: string; conversations: number; files: number };
