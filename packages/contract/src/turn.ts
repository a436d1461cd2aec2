import type { Ask, AskAnswer } from './ask.ts';
import type { ErrorBody } from './error-body.ts';
import type { TokenUsage } from './usage.ts';

/**
 * What goes with a reply on channels that say in their capabilities that they show it. `path` is of the upload area, `emoji` is for the
 * message that is answered. Neither has a text, which code that knows replies alone may ask for.
 */
export type ExtraAction =
  | { type: 'file'; path: string; name: string; mime: string; text?: undefined }
  | { type: 'react'; emoji: string; text?: undefined };

/** One thing the connector renders (spec: Outbound action). A connector leaves out what it does not know. */
export type Action = { type: 'reply'; text: string } | ExtraAction;

/** What a reply says, as one text; empty for one that says nothing. */
export const textOf = (actions: readonly Action[]): string =>
  actions.flatMap((action) => (action.type === 'reply' ? [action.text] : [])).join('\n\n');

/** A file of a reply: `path` is of the upload area. */
export type ReplyFile = { path: string; name: string; mime: string };

/** The files of a reply, in their order. */
export const filesOf = (actions: readonly Action[]): Extract<Action, { type: 'file' }>[] =>
  actions.filter((action) => action.type === 'file');

/** Who stood in the way of a blocked turn. */
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
  /** Of the outcome `blocked`. */
  blocked_by?: Blocker;
  conversation_key: string;
  turn_id: string;
  engine_id?: string;
  model?: string;
  usage?: TokenUsage;
  /** What the operator should know of this turn, such as a tool server that was not there. */
  warnings?: string[];
};

/** What a turn shows while it runs. The same frames travel as SSE (`event: <type>`) and on the connector link. */
export type TurnProgress =
  /** Waiting for the conversation's lock or a global slot; `position` counts the turns ahead. */
  | { type: 'queued'; position: number }
  | { type: 'delta'; text: string }
  /** A finished block of text: what the deltas since the last segment add up to. */
  | { type: 'segment'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string }
  /** The turn waits for a person: one of them answers, or it is denied. */
  | { type: 'ask'; ask: Ask }
  /** A question is over. */
  | { type: 'asked'; id: string; answer: AskAnswer }
  /** Everything streamed so far is withdrawn: the turn ends in silence, or what follows takes its place. */
  | { type: 'retract' };

/**
 * The life of a turn. `replied` has an answer, `delivered` is known to have reached the channel, `done` ended without
 * anything to say.
 */
export type TurnState = 'queued' | 'running' | 'replied' | 'delivered' | 'done' | 'failed';

/** A tool that a turn called. `ok`: null until it has ended. */
export type ToolUse = { id: string; name: string; ok: boolean | null };

export type TurnFrame = TurnProgress | { type: 'result'; result: HandleResult } | { type: 'error'; error: ErrorBody };
