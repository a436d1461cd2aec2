import type { WorkingFolder } from './folder.ts';

export const sessionStates = ['idle', 'queued', 'running', 'claimed'] as const;
export type SessionState = (typeof sessionStates)[number];

/** The continuing conversation (spec: Session record; decisions: Core, Sessions). Times are epoch ms. */
export type Session = {
  conversation_key: string;
  surface: string;
  instance_id: string | null;
  principal_id: string | null;
  engine_id: string | null;
  /** Resume id at the engine. Abort never touches it. */
  engine_session_id: string | null;
  model: string | null;
  state: SessionState;
  title: string | null;
  claimed_by: string | null;
  /** Mailbox cursor of announcements. */
  last_announce_id: number;
  outbound_instance_id: string | null;
  outbound_target: string | null;
  multiplexer: string | null;
  tmux_target: string | null;
  /** Where its last turn worked. */
  cwd: string | null;
  /** What the operator set for the conversation, else its instance, else its channel; null when nothing is set. */
  working_folder: Pick<WorkingFolder, 'scope' | 'path' | 'for'> | null;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  /** List-price value of its turns; `unpriced_turns` of them are not in it, because nobody knows their price. */
  cost_usd: number;
  unpriced_turns: number;
  created_at: number;
  last_active_at: number;
};
