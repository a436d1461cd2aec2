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
  /** Resume id at the engine. Abort never touches it. */
  engine_session_id: string | null;
  model: string | null;
  state: SessionState;
  title: string | null;
  /** Who gave the title: the first words of the first message, a model, or a person. Null: there is none. */
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

/** One side of a turn as the transcript shows it. Times are epoch ms. */
export type HistoryMessage = {
  turn_id: string;
  /** The channel's id of the message that was answered, where it gave one. */
  message_id: string | null;
  role: 'user' | 'operator' | 'assistant' | 'error';
  sender: string | null;
  text: string;
  at: number;
  /** Of the whole turn, as it is now. */
  state: TurnState;
  /** How it ended; null while it has not, and when it failed. */
  outcome: Outcome | null;
  /** Files that came with the message, or the one that goes with an answer. */
  attachments: Attachment[];
  /** What was called to answer the message, also while its turn runs; of an answer there are none. */
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

/** How a turn begins for those who watch its conversation: what was said, by whom, over which channel. */
export type TurnBegin = {
  type: 'begin';
  origin: 'message' | 'inject';
  channel: string;
  sender: string;
  message_id: string | null;
  text: string;
  attachments: Attachment[];
};

/** How it ended. `outcome` is null when it failed; then `error` says why. `text`: the whole reply; `files` go with it. */
export type TurnEnd = { type: 'end'; outcome: Outcome | null; text: string; files?: ReplyFile[]; error?: ErrorBody };

/**
 * What is seen of a conversation, whichever channel it runs on. `seq` rises within a conversation, over restarts too, and is a place to go on from;
 * 0 is no place: such a frame stands for what happened before, and one with a place follows.
 */
export type SessionFrame = { conversation_key: string; turn_id: string; seq: number } & (TurnBegin | TurnProgress | TurnEnd);

/**
 * What is said of the conversation itself. `watching`: what was said before is seen, and its place is one to go on from. `gap`: frames are missing
 * before this, the history has what they said; turns that run follow from their beginning. `forgotten`: what was said is gone, and turns that run follow too.
 */
export type SessionNotice = { conversation_key: string; seq: number; type: 'watching' | 'gap' | 'forgotten'; message: string };

/** One event of `GET /v2/session/:key/stream`, named by its `type`. */
export type SessionStreamFrame = SessionFrame | SessionNotice;

/**
 * A session in the answer of `GET /api/sessions`. `terminal`: an engine's program in a terminal of tmux; `transcript`: one
 * that runs, or ran, known by its transcript only; `core`: everything else.
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
  /** At list prices; null: nobody knows. What a program that a person started cost is known by its tokens, and by nobody whether it was billed. */
  cost_usd: number | null;
  billed_cost_usd: number | null;
  /** Turns and side calls whose price nobody knows: they are not in the costs. */
  unpriced: number;
};
