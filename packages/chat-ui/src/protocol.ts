import type { ChatFrame, TurnPart } from '@svc/contract/chat-frame.ts';

export type { ChatFrame, TurnPart };

const partTypes = new Set<string>([
  'inject',
  'queued',
  'delta',
  'thinking',
  'tool',
  'tool_result',
  'ask',
  'asked',
  'retract',
  'undelivered',
  'done',
] satisfies TurnPart['type'][]);

/** Whether a frame is of a turn. */
export const isOfTurn = (frame: ChatFrame): frame is { turn_id: string } & TurnPart => partTypes.has(frame.type);
