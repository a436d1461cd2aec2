import type { TurnFrame } from '@svc/contract/turn.ts';
import { createStyle, printError, visible } from '../terminal.ts';
import { awayNote, type ChatSession, type MessageContent } from './chat-session.ts';
import type { ShowAsk } from './show-ask.ts';
import { takeAnswers, type ReadAnswers } from './take-answers.ts';
import { createPlainLines } from './turn-lines.ts';
import { createTurnView, type TurnVerdict, type TurnView } from './turn-view.ts';

/** A turn on display, and its clean-up. `read`: reads a person's answers; null when nobody can type. */
export type ShownTurn = { view: TurnView; note: (text: string) => void; close: () => void; read: ReadAnswers | null };

/** Sends one message and shows its answer. Ctrl-C stops the turn; a second one stops waiting for it. */
export async function sayOnce(
  session: ChatSession,
  content: MessageContent,
  { view, note, close, read }: ShownTurn,
): Promise<TurnVerdict> {
  let asked = false;
  const onInterrupt = () => {
    if (asked) return session.leave();
    asked = true;
    session.stop().then(
      (running) => running || note('Nothing to stop yet; Ctrl-C again quits.'),
      () => session.leave(),
    );
  };
  process.on('SIGINT', onInterrupt);
  const answers = read === null ? null : takeAnswers({ session, read, note, onInterrupt });
  const onFrame = (frame: TurnFrame) => {
    view.show(frame);
    answers?.follow(frame);
  };
  try {
    return view.finish(await session.run(content, { onFrame, onAway: () => note(awayNote), showsAsks: true }));
  } finally {
    answers?.close();
    close();
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** A turn as plain text: the answer on stdout for a pipe, everything else on stderr. */
export function showPlain(read: ReadAnswers | null, showAsk?: ShowAsk): ShownTurn {
  // On a terminal, control characters are made visible.
  const answer = (text: string) => void process.stdout.write(process.stdout.isTTY ? visible(text) : text);
  const aside = (text: string) => void process.stderr.write(text);
  return {
    view: createTurnView(createPlainLines({ answer, aside }, createStyle(process.stderr)), showAsk),
    note: (text) => printError(visible(text)),
    read,
    close: () => undefined,
  };
}
