import { chatCommands, describeChatCommands } from '@svc/contract/chat-command.ts';

export const chatHelp = `Commands of the assistant, on every channel:
${describeChatCommands(chatCommands).replaceAll(/^/gm, '  ')}
Here: Enter sends, Alt-Enter or a \\ before Enter starts a new line, arrow-up brings back earlier messages.
      Ctrl-C stops the running turn, a second one quits; Ctrl-D or /quit quits.`;

/** Keys and commands that the CLI handles itself, not the assistant. */
export function localCommand(text: string): 'help' | 'quit' | null {
  const word = text.trim();
  if (word === '/help') return 'help';
  return word === '/quit' || word === '/exit' ? 'quit' : null;
}
