import type { Ask } from '@svc/contract/ask.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import type { ChatSession } from './chat-session.ts';
import { answerCommand } from './show-ask.ts';

export type AnswerHandlers = {
  /** A line was typed. */
  onAnswer: (text: string) => void;
  /** Ctrl-C, where the terminal makes no signal of it. */
  onInterrupt: () => void;
  /** The terminal goes away, or a user ends this program. */
  onLeave: () => void;
  /** The person types nothing more: Ctrl-D. */
  onEnd: () => void;
};

/** Begins to read what a person types, until the function that it gives is called. */
export type ReadAnswers = (handlers: AnswerHandlers) => () => void;

/** The core takes no longer ones, and no answer is as long. */
const longestAnswer = 200;

type Deps = {
  session: Pick<ChatSession, 'answer' | 'conversationKey' | 'leave'>;
  read: ReadAnswers;
  note: (text: string) => void;
  onInterrupt: () => void;
};

/** Takes answers of a person to the questions of one turn. The terminal is read while one is open and at no other time: what is typed belongs to the shell. */
export function takeAnswers({ session, read, note, onInterrupt }: Deps): { follow(frame: TurnFrame): void; close(): void } {
  let open: { ask: Ask; stop: () => void } | null = null;

  const close = () => {
    open?.stop();
    open = null;
  };
  const answer = (ask: Ask, text: string) =>
    void session
      .answer(ask.id, text.slice(0, longestAnswer))
      .then(note, (error: Error) => note(`Not answered: ${error.message}.`));
  const begin = (ask: Ask) => {
    close();
    const isFresh = afterNextRead();
    const onEnd = () => {
      close();
      note(`The question stays open. Answer by number: ${answerCommand(session.conversationKey)}`);
    };
    const onAnswer = (text: string) => {
      if (isFresh() && text.trim() !== '') answer(ask, text.trim());
    };
    open = { ask, stop: read({ onAnswer, onInterrupt, onEnd, onLeave: session.leave }) };
  };

  return {
    follow(frame) {
      if (frame.type === 'ask') begin(frame.ask);
      else if (frame.type === 'retract' || (frame.type === 'asked' && frame.id === open?.ask.id)) close();
    },
    close,
  };
}

/** True once all that was typed before has been read: it was written without having seen the question. */
function afterNextRead(): () => boolean {
  let isOver = false;
  // What is there already is read between the two.
  setImmediate(() => setImmediate(() => void (isOver = true)));
  return () => isOver;
}
