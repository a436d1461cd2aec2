import { userInfo } from 'node:os';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { createChatSession, Interrupted, type ChatSession } from '../chat/chat-session.ts';
import { runChatLoop } from '../chat/chat-loop.ts';
import { describeError } from '../chat/turn-view.ts';
import { CliError } from '../cli-error.ts';
import { coreUrl } from '../service-urls.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

export type ChatOptions = { session: string; new?: boolean; json?: boolean };

const interrupted = 130;
const codeOf = { ok: exitCodes.ok, failed: exitCodes.failed, stopped: interrupted };

/** One message, or a conversation when none is given and a person is there. */
export async function chat(words: string, options: ChatOptions): Promise<number> {
  const session = openSession(options.session);
  const text = words === '' && !process.stdin.isTTY ? await readStdin() : words;
  if (text.trim() === '' && (!process.stdin.isTTY || options.json === true)) {
    throw new CliError('there is nothing to say.', { run: './svc chat "hello"' });
  }
  try {
    if (options.new === true) await startOver(session);
    if (options.json === true) return await printResult(session, text);
    if (text !== '') return codeOf[await session.say(text)];
    await runChatLoop(session, createStyle(process.stdout));
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Interrupted) return interrupted;
    throw error;
  }
}

function openSession(name: string): ChatSession {
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new CliError(`"${name}" is no name for a conversation.`, {
      why: 'It takes letters, digits, ".", "-" and "_", at most 64.',
    });
  }
  return createChatSession({
    coreUrl: coreUrl(loadSettings(repositoryRoot)),
    user: userName(),
    name,
    style: createStyle(process.stderr),
  });
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new CliError('this user has no name on this machine, so the assistant cannot know who speaks.', {
      why: `There is no entry for user ${process.getuid?.() ?? ''} in /etc/passwd.`,
      cause: error,
    });
  }
}

async function startOver(session: ChatSession): Promise<void> {
  const end = await session.run('/new');
  if (end.type === 'error') throw new CliError('a new conversation could not begin.', { why: describeError(end.error) });
}

/** The closing frame as it is: `{ "type": "result", "result": … }` or `{ "type": "error", "error": … }`. */
async function printResult(session: ChatSession, text: string): Promise<number> {
  const end = await session.run(text);
  print(JSON.stringify(end));
  return end.type === 'result' ? exitCodes.ok : exitCodes.failed;
}

async function readStdin(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8') as AsyncIterable<string>) text += piece;
  return text.trim();
}
