import type { Identifier, Principal } from './trust.ts';

/** A conversation in which a person took part. `is_shared`: so did others. */
export type ErasedConversation = { key: string; is_shared: boolean };

/** What erasing a person removes and what stays (`GET /trust/principals/:id/erasure`). */
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
  /** Why it is not possible now, for a person to read; null when it is. */
  refused: string | null;
  /** True when it was requested and is not finished yet. */
  is_under_way: boolean;
};

/** What was removed; after an interruption, only the rest. */
export type Erased = { ok: true; principal: string; conversations: number; files: number };
