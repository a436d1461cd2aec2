import type { Ask, AskAnswer } from '@svc/contract/ask.ts';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { ReplyFile } from '@svc/contract/turn.ts';

/** A tool that was called. `ok`: null while it runs. Times are of the page's own clock, null for what the history had. */
export type Step = {
  id: string;
  name: string;
  input: unknown;
  ok: boolean | null;
  output: string;
  begun: number | null;
  ended: number | null;
};

export type Question = { ask: Ask; answer: AskAnswer | null };

/** Where a turn is. Up to `unsent` it is this device's alone; from `done` on nothing more comes. */
export type Phase = 'sending' | 'unsent' | 'queued' | 'thinking' | 'tool' | 'writing' | 'done' | 'stopped' | 'silent' | 'failed';

/** Why a reply did not reach its channel. */
export type Undelivered = {
  /** For a person to read. */
  reason: string;
  /** Its channel is tried again by itself. */
  isWaiting: boolean;
  /** Deliveries that can be tried again now; none where that cannot be asked for here. */
  deliveries: readonly string[];
};

export type Said = {
  origin: 'message' | 'inject';
  sender: string | null;
  text: string;
  attachments: readonly Pick<Attachment, 'name' | 'mime' | 'path'>[];
};

/** A message and what came of it. Never changed: each change makes a new one, under the same key. */
export type Turn = {
  /** For life: the message's own id, which its sender made; else that of the turn. */
  key: string;
  turnId: string | null;
  said: Said | null;
  phase: Phase;
  /** Turns ahead of it, while it is queued. */
  position: number;
  thinking: string;
  steps: readonly Step[];
  questions: readonly Question[];
  text: string;
  /** What goes with the reply. */
  files: readonly ReplyFile[];
  /** Why it failed, or was not sent. */
  fault: string | null;
  undelivered: Undelivered | null;
  /** Epoch ms: when it began, for the order and to be shown. */
  at: number;
};

export const emptyTurn = (key: string, at: number): Turn => ({
  key,
  turnId: null,
  said: null,
  phase: 'queued',
  position: 0,
  thinking: '',
  steps: [],
  questions: [],
  text: '',
  files: [],
  fault: null,
  undelivered: null,
  at,
});

const over: ReadonlySet<Phase> = new Set(['done', 'stopped', 'silent', 'failed']);
const running: ReadonlySet<Phase> = new Set(['queued', 'thinking', 'tool', 'writing']);

export const isOver = ({ phase }: Pick<Turn, 'phase'>): boolean => over.has(phase);
export const isRunning = ({ phase }: Pick<Turn, 'phase'>): boolean => running.has(phase);
