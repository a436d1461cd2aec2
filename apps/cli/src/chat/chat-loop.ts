import { createInterface, type Interface } from 'node:readline';
import { renderCliError, toCliError } from '../cli-error.ts';
import { print, printError, type Style } from '../terminal.ts';
import { Interrupted, type ChatSession } from './chat-session.ts';

const help = `Commands of the assistant, on every channel:
  /new      begin a new conversation
  /status   show what is going on here
  /stop     stop the running turn
  /usage    show the tokens of this conversation
Here: Ctrl-C stops the running turn, Ctrl-D or /quit leaves.`;

/** Prompt, turn, prompt, until the person leaves. What was typed during a turn is said after it. */
export async function runChatLoop(session: ChatSession, style: Style): Promise<void> {
  const lines: string[] = [];
  let wake = () => {};
  let closed = false;
  let wantsOut = false;
  const reader = createInterface({ input: process.stdin, output: process.stdout, prompt: style.bold('› '), historySize: 500 });
  reader.on('line', (line) => {
    wantsOut = false;
    lines.push(line);
    wake();
  });
  reader.on('close', () => {
    closed = true;
    wake();
  });
  reader.on('SIGINT', () => {
    const isEmpty = reader.line === '';
    if (isEmpty && wantsOut) return reader.close();
    wantsOut = isEmpty;
    process.stdout.write(isEmpty ? '\n(Ctrl-C again or Ctrl-D leaves)\n' : '\n');
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
    reader.prompt();
  });
  const nextLine = async (): Promise<string | null> => {
    while (lines.length === 0 && !closed) {
      reader.prompt();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return lines.shift() ?? null;
  };

  print(style.dim(`Conversation ${session.conversationKey}. /help shows the commands, Ctrl-D leaves.`));
  for (;;) {
    const line = await nextLine();
    const text = line?.trim();
    if (text === undefined || text === '/quit' || text === '/exit') break;
    if (text === '') continue;
    if (text === '/help') print(help);
    else await sayBetweenPrompts(session, text, reader, style);
  }
  reader.close();
  if (closed && lines.length === 0) print('');
}

/** The terminal is given back during a turn, so that Ctrl-C is a signal again. */
async function sayBetweenPrompts(session: ChatSession, text: string, reader: Interface, style: Style): Promise<void> {
  reader.pause();
  process.stdin.setRawMode?.(false);
  try {
    await session.say(text);
  } catch (error) {
    if (error instanceof Interrupted) printError(style.dim('(left; the turn may still end on its own)'));
    else printError(renderCliError(toCliError(error), style));
  } finally {
    process.stdin.setRawMode?.(true);
    reader.resume();
  }
}
