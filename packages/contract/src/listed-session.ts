/**
 * A session in the answer of `GET /api/sessions`. `terminal`: an engine's program in a terminal of tmux; `transcript`: one
 * that runs, or ran, where only its transcript tells of it; `core`: everything else.
 */
export const sessionSources = ['core', 'terminal', 'transcript'] as const;
export type SessionSource = (typeof sessionSources)[number];

/** What the core, the terminals and the transcripts of engines tell of one session, put together. Times are epoch ms. */
export type ListedSession = {
  conversation_key: string;
  source: SessionSource;
  surface: string | null;
  instance_id: string | null;
  /** The raw sender, and the key of the principal it resolved to. */
  identity: string | null;
  principal: string | null;
  /** `ended`: its program is gone. */
  state: 'running' | 'idle' | 'claimed' | 'ended';
  /** A turn runs, its program runs, or something happened in the last 15 minutes. */
  active: boolean;
  engine_id: string | null;
  engine_session_id: string | null;
  model: string | null;
  title: string | null;
  /** Where it works, and the root of the git repository that this is in. */
  cwd: string | null;
  repo: string | null;
  /** Of its own program, when it has one that runs. */
  pid: number | null;
  /** `tmux` when keys can be sent to it. */
  multiplexer: string | null;
  tmux_target: string | null;
  first_event_at: number;
  last_event_at: number;
  last_text: string | null;
  events: number;
  turns: number;
  /** Null: nobody knows. */
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number;
  billed_cost_usd: number;
};
