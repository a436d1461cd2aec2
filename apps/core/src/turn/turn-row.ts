import type { ExtraAction, TurnState } from '@svc/contract/turn.ts';
import { jsonInTurns } from '@svc/service-kit/json/write-steps.ts';
import type { Turn } from './turn.ts';

/** A row of `turn`: what the journal keeps of an accepted message. */
export type JournalRow = {
  seq: number;
  id: string;
  conversation_key: string;
  sender: string;
  /** Null in rows of older versions, which did not store it. */
  channel: string | null;
  public: number | null;
  state: TurnState;
  open: number;
  attempts: number;
  request_id: string;
  input: string | null;
  text: string | null;
  result: string | null;
  error: string | null;
  actions: string | null;
  accepted_at: number;
  /** The newest known version of its message; null while it was not edited. */
  amended: number | null;
};

type Input = Pick<
  Turn,
  'envelope' | 'instanceId' | 'together' | 'steering' | 'announcedAfter' | 'parts' | 'amends' | 'isDropped'
>;

/** The message's files as JSON, for a column that outlives the input; null for none. */
export function filesOf({ envelope: { content } }: Turn): string | null {
  const { attachments = [] } = content;
  return attachments.length === 0 ? null : JSON.stringify(attachments);
}

/** Everything of the turn except its text, which has its own column and outlives the input. */
export function inputOf(turn: Turn): string | Promise<string> {
  const { envelope } = turn;
  const input: Input = {
    envelope: { ...envelope, content: { ...envelope.content, text: '' } },
    instanceId: turn.instanceId,
    together: turn.together,
    steering: turn.steering,
    announcedAfter: turn.announcedAfter,
    parts: turn.parts,
    amends: turn.amends,
    isDropped: turn.isDropped,
  };
  return jsonInTurns(input);
}

/** The turn an open row stands for. */
export function toTurn(row: JournalRow): Turn {
  if (row.input === null || row.text === null) throw new Error('the journal has no input for this turn');
  const { envelope, ...input } = JSON.parse(row.input) as Input;
  const content = { ...envelope.content, text: row.text };
  // The input may be public only by the rules of its instance; the column has what the sender said.
  const cameAs = row.public === null ? {} : { public: row.public === 1 ? true : undefined };
  return {
    ...input,
    envelope: { ...envelope, ...cameAs, content },
    id: row.id,
    seq: row.seq,
    requestId: row.request_id,
    isResumed: row.attempts > 0,
    ...(row.actions !== null && { actions: JSON.parse(row.actions) as ExtraAction[] }),
  };
}
