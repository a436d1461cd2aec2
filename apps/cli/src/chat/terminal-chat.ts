import { renderCliError, toCliError } from '../cli-error.ts';
import type { EditorEvent } from '../editor/editor.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import { askCore } from '../service-client.ts';
import { plain } from '../terminal.ts';
import { chatHelp, localCommand } from './chat-help.ts';
import { createChatScreen, type Below, type ChatScreen } from './chat-screen.ts';
import { awayNote, Interrupted, type ChatSession, type MessageContent } from './chat-session.ts';
import { createConversation } from './conversation.ts';
import { createInterrupts } from './interrupts.ts';
import { createMissedReplies } from './missed-replies.ts';
import { attend, createTypedInput } from './typed-input.ts';

export type ChatDeps = {
  session: ChatSession;
  /** The input, as the content of a message. */
  toMessage: (text: string) => Promise<MessageContent>;
};

/** How often the core is asked for replies that another chat left behind. */
const missedMs = 5000;
const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/**
 * Prompt, message, answer, until the person quits; messages typed meanwhile are sent at once. Returns false when Ctrl-C or a
 * signal ended it. @throws CliError when the service is not running at the start.
 */
export async function chatInTerminal(deps: ChatDeps): Promise<boolean> {
  const { session } = deps;
  const showMissed = createMissedReplies(session);
  const left = Promise.withResolvers<boolean>();
  const { screen, editor, handlers } = openChat(deps, left.resolve);
  try {
    note(screen, `Conversation ${session.conversationKey}. /help shows the commands, Ctrl-D quits.`);
    await showMissed(() => screen);
    void earlierMessages(session).then(editor.remember, () => undefined); // without them arrow-up has those of now
    const detach = attend({ screen, handlers, signals, onSignal: () => left.resolve(false) });
    // A core that is down is noticed by the next message.
    const timer = setInterval(() => void showMissed(() => screen).catch(() => undefined), missedMs);
    return await left.promise.finally(() => {
      clearInterval(timer);
      detach();
    });
  } finally {
    screen.close();
    session.leave();
  }
}

/** Connects the conversation, the input and the keys. */
function openChat({ session, toMessage }: ChatDeps, onLeft: (byCommand: boolean) => void) {
  const { editor, handlers, layout } = createTypedInput((event) => on(event));
  const screen = createChatScreen({ stream: process.stdout, below });
  const onFault = (error: unknown) => error instanceof Interrupted || printFault(screen, error);
  const conversation = createConversation({
    session,
    open: screen.openTurn,
    onFault,
    onAway: () => note(screen, awayNote),
    onChange: screen.changed,
  });
  const leave = (byCommand: boolean) => {
    if (conversation.isBusy()) note(screen, '(quit; pending answers are shown when you come back)');
    onLeft(byCommand);
  };
  const interrupts = createInterrupts({
    current: () => conversation.current()?.view ?? null,
    stop: () => void stopTurn(session, screen),
    leave: () => leave(false),
    clear: () => editor.text() !== '' && (editor.clear(), true),
    warn: () => note(screen, 'Ctrl-C again or Ctrl-D quits.'),
  });

  function below(): Below {
    const current = conversation.current();
    const wordsOf = ({ view }: NonNullable<typeof current>) => (interrupts.isStopping(view) ? 'stopping' : view.activity());
    return {
      activity: current && { words: wordsOf(current), since: current.since },
      waiting: conversation.waiting(),
      input: layout,
    };
  }
  const submit = (text: string, shown: string) => {
    const command = localCommand(text);
    if (command === 'quit') leave(true);
    else if (command === 'help') screen.print([...chatHelp.split('\n').map((line) => [span(line)]), []]);
    else conversation.say(toMessage(text), shown);
  };
  const on = (event: EditorEvent | null) => {
    if (event?.type === 'interrupt') interrupts.press();
    else interrupts.reset();
    if (event?.type === 'submit') submit(event.text, event.shown);
    else if (event?.type === 'leave') leave(true);
    else if (event?.type === 'redraw') screen.clear();
    screen.changed(true);
  };
  return { screen, editor, handlers };
}

const note = (screen: ChatScreen, text: string) => screen.print(wrapSpans([span(text, 'dim')], screen.columns()));

function printFault(screen: ChatScreen, error: unknown): void {
  const lines = renderCliError(toCliError(error), plain, screen.columns()).split('\n');
  screen.print(lines.map((line, index): Line => [index === 0 ? span(line, 'red') : span(line)]));
}

const stopTurn = (session: ChatSession, screen: ChatScreen): Promise<unknown> =>
  session.stop().then(
    (isRunning) => isRunning || note(screen, 'Nothing to stop yet; Ctrl-C again quits.'),
    (error: unknown) => printFault(screen, error),
  );

type History = { messages: { role: string; text: string }[] };

const mostEarlier = 100;

/** Earlier messages, oldest first, for arrow-up. They are stored nowhere but in the conversation itself. */
async function earlierMessages({ coreUrl, conversationKey }: ChatSession): Promise<string[]> {
  const url = `${coreUrl}/v2/session/${encodeURIComponent(conversationKey)}/history?limit=${mostEarlier}`;
  const answer = await askCore<History>(url);
  return answer.ok ? answer.body.messages.filter(({ role, text }) => role === 'user' && text !== '').map(({ text }) => text) : [];
}
