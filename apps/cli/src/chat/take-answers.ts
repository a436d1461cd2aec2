import type { Ask } from '@svc/contract/ask.ts';
import type { TurnFrame } from '@svc/contract/turn.ts';
import type { ChatSession } from './chat-session.ts';
import { answerCommand } from './show-ask.ts';

export type AnswerHandlers = {
  /** A line was typed. */
  onAnswer: (text: string) => void;
  /** Ctrl-C was pressed, on a terminal that sends no signal for it. */
  onInterrupt: () => void;
  /** The terminal was closed, or this program is asked to end. */
  onLeave: () => void;
  /** The person ends the input with Ctrl-D. */
  onEnd: () => void;
};

/** Starts reading input, until the returned function is called. */
export type ReadAnswers = (handlers: AnswerHandlers) => () => void;

/** The core accepts no longer answer, and no real one is as long. */
const longestAnswer = 200;

type Deps = {
  session: Pick<ChatSession, 'answer' | 'conversationKey' | 'leave'>;
  read: ReadAnswers;
  note: (text: string) => void;
  onInterrupt: () => void;
};

/** Takes a person's answers to the questions of one turn. The terminal is read only while a question is open: other input belongs to the shell. */
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

/** Returns a check that is true once earlier input has been read: it was typed before the question was visible. */
function afterNextRead(): () => boolean {
  let isOver = false;
  // Pending input is read between these two ticks.
  setImmediate(() => setImmediate(() => void (isOver = true)));
  return () => isOver;
}
