import type { Ask, AskAnswer } from './ask.ts';
import type { Attachment } from './envelope.ts';
import type { ErrorBody } from './error-body.ts';
import type { Outcome, ReplyFile } from './turn.ts';

/** What is shown of a conversation. The gateway's chat stream sends these; so may any other server of the chat. Unknown types are left out. */
export type ChatFrame =
  | { type: 'ready'; gap?: boolean }
  | ({ turn_id: string } & TurnPart)
  | { type: 'speak'; id: string; text: string; priority?: string }
  | { type: 'gap' }
  | { type: 'forgotten' };

/** What happens within one turn, from what was said to how it ended. */
export type TurnPart =
  | {
      type: 'inject';
      origin: 'message' | 'inject';
      channel: string;
      sender: string;
      message_id: string | null;
      text: string;
      attachments: Attachment[];
    }
  | { type: 'queued'; position: number }
  | { type: 'delta'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; id: string; ok: boolean; output: string }
  | { type: 'ask'; ask: Ask }
  | { type: 'asked'; id: string; answer: AskAnswer }
  | { type: 'retract' }
  /** The reply to what an operator said did not reach the channel. */
  | { type: 'undelivered'; reason: string }
  | { type: 'done'; outcome: Outcome | null; text: string; files?: ReplyFile[]; error?: ErrorBody };
