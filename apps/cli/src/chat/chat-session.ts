import type { Attachment, Envelope } from '@svc/contract/envelope.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { abortTurn, answerAsk, CoreAway, streamTurn, type TurnEnd } from './stream-turn.ts';

/** The content of a message: text, and files of the upload area. */
export type MessageContent = { text: string; attachments?: Attachment[] };

export type Following = {
  onFrame?: (frame: TurnFrame) => void;
  onAccepted?: () => void;
  /** The connection to the core was lost and the answer is requested again, so the part shown so far is withdrawn. */
  onAway?: () => void;
  /** A person is present who can answer the assistant's questions. */
  showsAsks?: boolean;
};

/** A core that crashes more often than this probably crashes because of the message. */
const mostTries = 3;

/** One conversation with the core from this shell. */
export type ChatSession = {
  readonly coreUrl: string;
  readonly conversationKey: string;
  /** Runs one message. @throws Interrupted when the session is left */
  run(content: MessageContent, following?: Following): Promise<TurnEnd>;
  /** Asks the core to stop the running turn; false when there is none. */
  stop(): Promise<boolean>;
  /** Answers an open question. Returns the text to show the person. */
  answer(askId: string, text: string): Promise<string>;
  /** Stops waiting for answers. The turns continue in the core. */
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
    capabilities: { supports_markdown: true, supports_code_blocks: true, actions: ['file', 'react'] },
  });
  return {
    coreUrl,
    conversationKey,
    async run(content, { onFrame = ignore, onAccepted, onAway, showsAsks } = {}) {
      // The same id makes it the same message: when its turn is resumed, the answer arrives here too.
      const envelope = toEnvelope(content);
      for (let tries = 1; ; tries++) {
        try {
          return await streamTurn(coreUrl, envelope, { onFrame, onAccepted, showsAsks, signal: leaving.signal });
        } catch (error) {
          if (leaving.signal.aborted) throw new Interrupted();
          if (!(error instanceof CoreAway) || tries === mostTries) throw error;
        }
        onFrame({ type: 'retract' });
        onAway?.();
      }
    },
    stop: () => abortTurn(coreUrl, conversationKey),
    answer: (askId, text) =>
      answerAsk(coreUrl, askId, { as: { channel: 'shell', sender: { raw_id: user } }, conversation_key: conversationKey, text }),
    leave: () => leaving.abort(new Interrupted()),
  };
}

const ignore = () => undefined;

export const awayNote = 'The core went down; asking it again for the complete answer.';

/** The person did not want to wait for the turn to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
