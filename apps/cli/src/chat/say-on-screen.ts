import { span } from '../screen/spans.ts';
import { createChatScreen, type ChatScreen } from './chat-screen.ts';
import type { ChatSession } from './chat-session.ts';
import { createMissedReplies } from './missed-replies.ts';
import type { ShownTurn } from './say-once.ts';
import type { TurnView } from './turn-view.ts';

/** A turn on a terminal, with what the engine does below it. */
export function showOnScreen(): ShownTurn {
  const since = performance.now();
  const screen = createChatScreen({
    stream: process.stdout,
    below: () => ({ activity: { words: view.activity(), since }, waiting: [], input: null }),
  });
  const view: TurnView = screen.openTurn(null);
  screen.changed();
  return { view, note: (text) => screen.print([[span(text, 'dim')]]), close: screen.close };
}

/** What was answered here while nobody listened. Should the core not say, the message itself tells why. */
export async function showMissedBefore(session: ChatSession): Promise<void> {
  let screen: ChatScreen | null = null;
  const open = () =>
    (screen ??= createChatScreen({ stream: process.stdout, below: () => ({ activity: null, waiting: [], input: null }) }));
  const showMissed = createMissedReplies(session);
  await showMissed(open).catch(() => undefined); // see above
  // The cast: what is set in a function is not seen here.
  const opened = screen as ChatScreen | null;
  opened?.print([[]]);
  opened?.close();
}
