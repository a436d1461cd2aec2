import { fstatSync } from 'node:fs';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { createChatSession, Interrupted, type ChatSession, type MessageContent } from '../chat/chat-session.ts';
import { toContent, toTypedContent, type PipedInput } from '../chat/message-content.ts';
import { describeError } from '../chat/turn-view.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { coreUrl } from '../service-urls.ts';
import { canDraw, print } from '../terminal.ts';

export type ChatOptions = { session: string; new?: boolean; file?: string[]; json?: boolean };

const interrupted = 130;
const codeOf = { ok: exitCodes.ok, failed: exitCodes.failed, stopped: interrupted };

/** Sends one message, or starts a conversation when there is none and a person is present. */
export async function chat(words: string, options: ChatOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const session = openSession(settings, options.session);
  const isPerson = process.stdin.isTTY;
  const isTalk = words.trim() === '' && isPerson && options.json !== true;
  const piped = isPerson ? null : pipedInput(words);
  const content = await toContent(settings, { words, files: options.file ?? [], piped });
  // A pipe that was left open would keep this process alive.
  if (piped !== null) process.stdin.destroy();
  if (content.text === '' && content.attachments === undefined && !isTalk) {
    throw new CliError('the message is empty.', { run: './svc chat "hello"' });
  }
  try {
    if (options.new === true) await startOver(session);
    if (options.json === true) return await printResult(session, content);
    if (isTalk) return (await talk(settings, session, content)) ? exitCodes.ok : interrupted;
    return codeOf[await say(session, content, isPerson)];
  } catch (error) {
    if (error instanceof Interrupted) return interrupted;
    throw error;
  }
}

/** A program that starts this one with a message may pass a socket that it never closes; a shell closes its pipes. */
const pipedInput = (words: string): PipedInput => ({
  input: process.stdin as AsyncIterable<Buffer>,
  isLeftOpen: words.trim() !== '' && fstatSync(0).isSocket(),
});

/** The screen code is loaded only when it is needed. */
async function say(session: ChatSession, content: MessageContent, isPerson: boolean) {
  const [{ sayOnce, showPlain }, { showAskHere, showAskForCommand }, { readLines }] = await Promise.all([
    import('../chat/say-once.ts'),
    import('../chat/show-ask.ts'),
    import('../chat/read-lines.ts'),
  ]);
  const showAsk = isPerson ? showAskHere : showAskForCommand(session.conversationKey);
  if (!canDraw(process.stdout)) return sayOnce(session, content, showPlain(isPerson ? readLines : null, showAsk));
  const { showMissedBefore, showOnScreen } = await import('../chat/say-on-screen.ts');
  await showMissedBefore(session);
  return sayOnce(session, content, showOnScreen(isPerson, showAsk));
}

/** Named files are attached to the first message. */
async function talk(settings: CliSettings, session: ChatSession, { attachments = [] }: MessageContent): Promise<boolean> {
  const left = [...attachments];
  const toMessage = (text: string) => toTypedContent(settings, text, left.splice(0));
  if (canDraw(process.stdout)) return (await import('../chat/terminal-chat.ts')).chatInTerminal({ session, toMessage });
  return (await import('../chat/line-chat.ts')).chatByLines({ session, toMessage });
}

function openSession(settings: CliSettings, given: string): ChatSession {
  const user = userName();
  const own = `shell:${user}:`;
  const name = given.startsWith(own) ? given.slice(own.length) : given;
  if (/^[\w.-]{1,64}$/.test(name)) {
    return createChatSession({ coreUrl: coreUrl(settings), user, conversationKey: own + name });
  }
  const isOther = given.includes(':');
  throw new CliError(
    isOther ? `"${given}" is not a conversation of this shell.` : `"${given}" cannot be the name of a conversation.`,
    {
      why: isOther
        ? `Those of this shell begin with ${own}. Messages to another one are answered over its own channel.`
        : 'It takes letters, digits, ".", "-" and "_", at most 64, or a whole key such as shell:anna:default.',
      run: isOther ? './svc session --help' : undefined,
    },
  );
}

async function startOver(session: ChatSession): Promise<void> {
  const end = await session.run({ text: '/new' });
  if (end.type === 'error') throw new CliError('a new conversation could not be started.', { why: describeError(end.error) });
}

/** The last frame unchanged: `{ "type": "result", "result": … }` or `{ "type": "error", "error": … }`. */
async function printResult(session: ChatSession, content: MessageContent): Promise<number> {
  const end = await session.run(content);
  print(JSON.stringify(end));
  return end.type === 'result' ? exitCodes.ok : exitCodes.failed;
}
