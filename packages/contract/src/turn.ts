import type { Ask, AskAnswer } from './ask.ts';
import type { ErrorBody } from './error-body.ts';
import type { TokenUsage } from './usage.ts';

/**
 * Additions to a reply, for channels whose capabilities include them. `path` is in the upload area; `emoji` is for the answered
 * message. `text` is always undefined, for code that only knows replies.
 */
export type ExtraAction =
  | { type: 'file'; path: string; name: string; mime: string; text?: undefined }
  | { type: 'react'; emoji: string; text?: undefined };

/** One thing that the connector renders (spec: Outbound action). A connector ignores unknown types. */
export type Action = { type: 'reply'; text: string } | ExtraAction;

/** The whole text of a reply; empty without any. */
export const textOf = (actions: readonly Action[]): string =>
  actions.flatMap((action) => (action.type === 'reply' ? [action.text] : [])).join('\n\n');

/** A file of a reply: `path` is in the upload area. */
export type ReplyFile = { path: string; name: string; mime: string };

/** The files of a reply, in their order. */
export const filesOf = (actions: readonly Action[]): Extract<Action, { type: 'file' }>[] =>
  actions.filter((action) => action.type === 'file');

/** What blocked a turn. */
export const blockers = ['moderation', 'spending'] as const;
export type Blocker = (typeof blockers)[number];

/**
 * How a handled envelope ended. Everything but `replied` and `command` is an expected outcome, never an exception.
 * `merged`: it is part of a later message's turn. `delivered`: it was answered already, and the answer was pushed.
 */
export const outcomes = [
  'replied',
  'command',
  'silent',
  'aborted',
  'denied',
  'blocked',
  'observed',
  'merged',
  'delivered',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Answer of `POST /v2/handle`. `actions` is the spec's; the rest lets protocol connectors answer in their own terms. */
export type HandleResult = {
  actions: Action[];
  outcome: Outcome;
  /** Set for the outcome `blocked`. */
  blocked_by?: Blocker;
  conversation_key: string;
  turn_id: string;
  engine_id?: string;
  model?: string;
  usage?: TokenUsage;
  /** Warnings for the operator about this turn, such as a missing tool server. */
  warnings?: string[];
};

/** The progress of a running turn. The same frames are sent as SSE (`event: <type>`) and on the connector link. */
export type TurnProgress =
  /** Waiting for the conversation's lock or a global slot; `position` counts the turns ahead. */
  | { type: 'queued'; position: number }
  | { type: 'delta'; text: string }
  /** A finished block of text: what the deltas since the last segment add up to. */
  | { type: 'segment'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string }
  /** The turn waits for a person, who answers the question, or it is denied. */
  | { type: 'ask'; ask: Ask }
  /** A question was closed. */
  | { type: 'asked'; id: string; answer: AskAnswer }
  /** Everything streamed so far is withdrawn: the turn ends silently, or new text follows. */
  | { type: 'retract' };

/**
 * The states of a turn. `replied`: it has an answer; `delivered`: the answer has reached the channel; `done`: it ended
 * without an answer.
 */
export type TurnState = 'queued' | 'running' | 'replied' | 'delivered' | 'done' | 'failed';

/** A tool that a turn called. `ok`: null until it has ended. */
export type ToolUse = { id: string; name: string; ok: boolean | null };

export type TurnFrame = TurnProgress | { type: 'result'; result: HandleResult } | { type: 'error'; error: ErrorBody };
