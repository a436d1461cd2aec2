import type { Attachment, Envelope } from '@svc/contract/envelope.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { abortTurn, answerAsk, CoreAway, streamTurn, type TurnEnd } from './stream-turn.ts';

/** What is said: words, and files of the upload area. */
export type MessageContent = { text: string; attachments?: Attachment[] };

export type Following = {
  onFrame?: (frame: TurnFrame) => void;
  onAccepted?: () => void;
  /** The core went away, and is asked again for the answer: what came of it so far is withdrawn. */
  onAway?: () => void;
  /** The person can answer what the assistant asks. */
  showsAsks?: boolean;
};

/** A core that goes away more often does so because of the message. */
const mostTries = 3;

/** One conversation with the core from this shell. */
export type ChatSession = {
  readonly coreUrl: string;
  readonly conversationKey: string;
  /** Runs one message. @throws Interrupted once the session was left. */
  run(content: MessageContent, following?: Following): Promise<TurnEnd>;
  /** Has the core end the turn that runs; false when there is none. */
  stop(): Promise<boolean>;
  /** Answers an open question. Gives what a person is told of it. */
  answer(askId: string, text: string): Promise<string>;
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
    capabilities: { supports_markdown: true, supports_code_blocks: true, actions: ['file', 'react'] },
  });
  return {
    coreUrl,
    conversationKey,
    async run(content, { onFrame = ignore, onAccepted, onAway, showsAsks } = {}) {
      // Sent again with its id it is the same message: its turn answers here too, once it is taken up again.
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

/** The person did not want to wait for the end of the turn. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
