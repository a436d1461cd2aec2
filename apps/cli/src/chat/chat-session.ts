import type { Attachment, Envelope } from '@svc/contract/envelope.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { abortTurn, streamTurn, type TurnEnd } from './stream-turn.ts';

/** What is said: words, and files of the upload area. */
export type MessageContent = { text: string; attachments?: Attachment[] };

export type Following = { onFrame?: (frame: TurnFrame) => void; onAccepted?: () => void };

/** One conversation with the core from this shell. */
export type ChatSession = {
  readonly coreUrl: string;
  readonly conversationKey: string;
  /** Runs one message. @throws Interrupted once the session was left. */
  run(content: MessageContent, following?: Following): Promise<TurnEnd>;
  /** Has the core end the turn that runs; false when there is none. */
  stop(): Promise<boolean>;
  /** Waits for no answer any more. Turns go on without us. */
  leave(): void;
};

type Options = { coreUrl: string; user: string; conversationKey: string };

export function createChatSession({ coreUrl, user, conversationKey }: Options): ChatSession {
  const leaving = new AbortController();
  const toEnvelope = (content: MessageContent): Envelope => ({
    channel: 'shell',
    conversation_key: conversationKey,
    message_id: randomIds.next('msg'),
    sender: { raw_id: user, raw_username: user },
    content,
    delivery: 'sync',
    capabilities: { supports_markdown: true, supports_code_blocks: true },
  });
  return {
    coreUrl,
    conversationKey,
    async run(content, { onFrame = ignore, onAccepted } = {}) {
      try {
        return await streamTurn(coreUrl, toEnvelope(content), { onFrame, onAccepted, signal: leaving.signal });
      } catch (error) {
        throw leaving.signal.aborted ? new Interrupted() : error;
      }
    },
    stop: () => abortTurn(coreUrl, conversationKey),
    leave: () => leaving.abort(new Interrupted()),
  };
}

const ignore = () => undefined;

/** The person did not want to wait for the end of the turn. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
