import { span } from '../screen/spans.ts';
import { createChatScreen } from './chat-screen.ts';
import type { ChatSession } from './chat-session.ts';
import { createMissedReplies, isFailure, missedTitle } from './missed-replies.ts';
import type { ShownTurn } from './say-once.ts';
import { showText } from './show-text.ts';
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
  return { view, close: screen.close };
}

/** What was answered here while nobody listened. A core that does not say is noticed by the message itself. */
export async function showMissedBefore({ coreUrl, conversationKey }: ChatSession): Promise<void> {
  const missed = createMissedReplies(coreUrl, conversationKey);
  const replies = await missed.read().catch(() => []);
  if (replies.length === 0) return;
  const screen = createChatScreen({ stream: process.stdout, below: () => ({ activity: null, waiting: [], input: null }) });
  for (const reply of replies) {
    screen.print([[span(`— ${missedTitle(reply, Date.now())} —`, 'dim')]]);
    showText(screen, reply.text, isFailure(reply));
  }
  screen.print([[]]);
  screen.close();
  for (const reply of replies) await missed.confirm(reply);
}
