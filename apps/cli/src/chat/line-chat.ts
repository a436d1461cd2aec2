import { createInterface } from 'node:readline';
import { renderCliError, toCliError } from '../cli-error.ts';
import { createStyle, print, printError } from '../terminal.ts';
import { chatHelp, localCommand } from './chat-help.ts';
import { awayNote, Interrupted, type ChatSession } from './chat-session.ts';
import { createConversation } from './conversation.ts';
import { showPlain } from './say-once.ts';
import type { ChatDeps } from './terminal-chat.ts';

/** A chat line by line, for terminals without cursor control. Returns false after a second Ctrl-C. */
export async function chatByLines({ session, toMessage }: ChatDeps): Promise<boolean> {
  const style = createStyle(process.stderr);
  const left = Promise.withResolvers<boolean>();
  const conversation = createConversation({
    session,
    open: () => showPlain(null).view,
    onFault: (error) => {
      if (!(error instanceof Interrupted)) printError(renderCliError(toCliError(error), style));
    },
    onAway: () => printError(style.dim(awayNote)),
    onChange: () => undefined,
  });
  const reader = createInterface({ input: process.stdin, terminal: false });
  const onInterrupt = interruptions(
    session,
    () => conversation.isBusy(),
    () => left.resolve(false),
  );
  process.on('SIGINT', onInterrupt);
  printError(style.dim(`Conversation ${session.conversationKey}. /help shows the commands, Ctrl-D quits.`));
  reader.on('line', (text) => {
    const command = localCommand(text);
    if (command === 'quit') left.resolve(true);
    else if (command === 'help') print(chatHelp);
    else if (text.trim() !== '') conversation.say(toMessage(text), text);
  });
  reader.on('close', () => void conversation.idle().then(() => left.resolve(true)));
  try {
    return await left.promise;
  } finally {
    process.off('SIGINT', onInterrupt);
    reader.close();
    session.leave();
  }
}

/** Ctrl-C stops the turn; a second one, or one while no turn runs, quits. */
function interruptions(session: ChatSession, isBusy: () => boolean, leave: () => void): () => void {
  let asked = false;
  return () => {
    if (asked || !isBusy()) return leave();
    asked = true;
    session.stop().then(
      () => void (asked = false),
      () => leave(),
    );
  };
}
