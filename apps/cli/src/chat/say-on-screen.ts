import { span, wrapSpans } from '../screen/spans.ts';
import { createChatScreen, type ChatScreen } from './chat-screen.ts';
import type { ChatSession } from './chat-session.ts';
import { createMissedReplies } from './missed-replies.ts';
import type { ShownTurn } from './say-once.ts';
import type { ShowAsk } from './show-ask.ts';
import type { ReadAnswers } from './take-answers.ts';
import type { TurnView } from './turn-view.ts';
import { attend, createTypedInput, type TypedInput } from './typed-input.ts';

/** A turn on a terminal, with the engine's activity below it, and the input while the engine asks something. */
export function showOnScreen(isPerson: boolean, showAsk?: ShowAsk): ShownTurn {
  const since = performance.now();
  let typed: TypedInput | null = null;
  const screen = createChatScreen({
    stream: process.stdout,
    below: () => ({ activity: { words: view.activity(), since }, waiting: [], input: typed?.layout ?? null }),
  });
  const view: TurnView = screen.openTurn(null, showAsk);
  screen.changed();
  const read: ReadAnswers = (handlers) => {
    const input = createTypedInput((event) => {
      if (event?.type === 'submit') handlers.onAnswer(event.text);
      else if (event?.type === 'interrupt') handlers.onInterrupt();
      else if (event?.type === 'leave') handlers.onEnd();
      else if (event?.type === 'redraw') screen.clear();
      screen.changed(true);
    });
    typed = input;
    const detach = attend({ screen, handlers: input.handlers, signals: ['SIGTERM', 'SIGHUP'], onSignal: handlers.onLeave });
    return () => {
      detach();
      typed = null;
    };
  };
  const note = (text: string) => screen.print(wrapSpans([span(text, 'dim')], screen.columns()));
  return { view, note, close: screen.close, read: isPerson ? read : null };
}

/** Replies that arrived while no client listened. If the core does not answer, sending the message reports why. */
export async function showMissedBefore(session: ChatSession): Promise<void> {
  let screen: ChatScreen | null = null;
  const open = () =>
    (screen ??= createChatScreen({ stream: process.stdout, below: () => ({ activity: null, waiting: [], input: null }) }));
  const showMissed = createMissedReplies(session);
  await showMissed(open).catch(() => undefined); // see above
  // The cast: TypeScript does not see assignments within a callback.
  const opened = screen as ChatScreen | null;
  opened?.print([[]]);
  opened?.close();
}
