import type { Attachment } from './envelope.ts';
import type { ErrorBody } from './error-body.ts';
import type { WorkingFolder } from './folder.ts';
import type { Outcome, ReplyFile, ToolUse, TurnProgress, TurnState } from './turn.ts';

export const sessionStates = ['idle', 'queued', 'running', 'claimed'] as const;
export type SessionState = (typeof sessionStates)[number];

/** The continuing conversation (spec: Session record; decisions: Core, Sessions). Times are epoch ms. */
export type Session = {
  conversation_key: string;
  surface: string;
  instance_id: string | null;
  principal_id: string | null;
  engine_id: string | null;
  /** The engine's id for resuming the session. An abort does not change it. */
  engine_session_id: string | null;
  model: string | null;
  state: SessionState;
  title: string | null;
  /** Where the title comes from: the first words of the first message, a model, or a person. Null: there is none. */
  title_by: 'words' | 'model' | 'person' | null;
  claimed_by: string | null;
  /** Mailbox cursor of announcements. */
  last_announce_id: number;
  outbound_instance_id: string | null;
  outbound_target: string | null;
  multiplexer: string | null;
  tmux_target: string | null;
  /** Where its last turn worked. */
  cwd: string | null;
  /** The folder that the operator set for the conversation, else for its instance, else for its channel; null without one. */
  working_folder: Pick<WorkingFolder, 'scope' | 'path' | 'for'> | null;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  /** The cost of its turns at list prices, without the `unpriced_turns`, whose price is unknown. */
  cost_usd: number;
  unpriced_turns: number;
  created_at: number;
  last_active_at: number;
};

/** One side of a turn as the transcript shows it. Times are epoch ms. */
export type HistoryMessage = {
  turn_id: string;
  /** The channel's id of the answered message, if it had one. */
  message_id: string | null;
  role: 'user' | 'operator' | 'assistant' | 'error';
  sender: string | null;
  text: string;
  at: number;
  /** The present state of the whole turn. */
  state: TurnState;
  /** How it ended; null while it runs, and when it failed. */
  outcome: Outcome | null;
  /** The files of the message or of the answer. */
  attachments: Attachment[];
  /** The tools that were called for the message, also while its turn runs; always empty for an answer. */
  tools: ToolUse[];
};

/** Answer of `GET /v2/session/:key/history`, oldest first. `next` is the `before` of the older page. */
export type History = { messages: HistoryMessage[]; next: number | null };

/** Answer of `GET /v2/sessions`, newest first. `next` is the `before` of the older page. */
export type SessionPage = { sessions: Session[]; next: string | null };

/** Answer of `POST /v2/inject` (spec: Endpoints, Core). `route`: where the reply is pushed to. */
export type InjectAnswer = {
  ok: true;
  reply: string;
  delivered: boolean;
  deliverErr: string | null;
  route: { instance_id: string; target: string } | null;
  outcome: Outcome;
  turn_id: string;
  /** The terminal where it is typed. */
  terminal?: string;
};

/** The beginning of a turn, for those who watch its conversation: the message, its sender and channel. */
export type TurnBegin = {
  type: 'begin';
  origin: 'message' | 'inject';
  channel: string;
  sender: string;
  message_id: string | null;
  text: string;
  attachments: Attachment[];
};

/** The end of a turn. `outcome` is null when it failed; then `error` has the reason. `text` is the whole reply, `files` its files. */
export type TurnEnd = { type: 'end'; outcome: Outcome | null; text: string; files?: ReplyFile[]; error?: ErrorBody };

/**
 * A frame of a watched conversation, whatever its channel. `seq` rises within a conversation, across restarts too, and is a
 * position to resume from. 0 is no position: such a frame sums up what happened before, and one with a position follows.
 */
export type SessionFrame = { conversation_key: string; turn_id: string; seq: number } & (TurnBegin | TurnProgress | TurnEnd);

/**
 * A notice about the conversation itself. `watching`: everything before it was sent, and its position is one to resume from.
 * `gap`: frames before it are missing, but the history has their content; running turns follow from their beginning.
 * `forgotten`: the conversation was removed; running turns follow too.
 */
export type SessionNotice = { conversation_key: string; seq: number; type: 'watching' | 'gap' | 'forgotten'; message: string };

/** One event of `GET /v2/session/:key/stream`, named by its `type`. */
export type SessionStreamFrame = SessionFrame | SessionNotice;

/**
 * The source of a session in the answer of `GET /api/sessions`. `terminal`: an engine's program in a tmux terminal;
 * `transcript`: a running or ended program that is known from its transcript only; `core`: everything else.
 */
const sessionSources = ['core', 'terminal', 'transcript'] as const;
type SessionSource = (typeof sessionSources)[number];

/** One session, from the core, the terminals and the transcripts of engines. Times are epoch ms. */
export type ListedSession = {
  conversation_key: string;
  source: SessionSource;
  surface: string | null;
  instance_id: string | null;
  /** The raw sender, and the key of the principal it resolved to. */
  identity: string | null;
  principal: string | null;
  /** `ended`: its program has ended. */
  state: 'running' | 'idle' | 'claimed' | 'ended';
  /** A turn runs, its program runs, or something happened in the last 15 minutes. */
  active: boolean;
  engine_id: string | null;
  engine_session_id: string | null;
  model: string | null;
  title: string | null;
  /** Its working folder, and the root of the git repository around that. */
  cwd: string | null;
  repo: string | null;
  /** The pid of its own program, while that runs. */
  pid: number | null;
  /** `tmux` when keys can be sent to it. */
  multiplexer: string | null;
  tmux_target: string | null;
  first_event_at: number;
  last_event_at: number;
  last_text: string | null;
  events: number;
  turns: number;
  /** Null: unknown. */
  input_tokens: number | null;
  output_tokens: number | null;
  /** At list prices; null: unknown. For programs that a person started, it follows from their tokens; whether they were billed is unknown. */
  cost_usd: number | null;
  billed_cost_usd: number | null;
  /** Turns and side calls without a known price. The costs do not include them. */
  unpriced: number;
};
