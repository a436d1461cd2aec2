import { renderCliError, toCliError } from '../cli-error.ts';
import { createEditor, type EditorEvent } from '../editor/editor.ts';
import { readKeys } from '../editor/key-source.ts';
import { layoutInput } from '../editor/layout-input.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import { plain } from '../terminal.ts';
import { chatHelp, localCommand } from './chat-help.ts';
import { createChatScreen } from './chat-screen.ts';
import { Interrupted, type ChatSession, type MessageContent } from './chat-session.ts';
import { createConversation } from './conversation.ts';
import { createMissedReplies, isFailure, missedTitle } from './missed-replies.ts';
import type { TurnView } from './turn-view.ts';
import { earlierMessages } from './earlier-messages.ts';
import { showText } from './show-text.ts';

export type ChatDeps = {
  session: ChatSession;
  /** What was typed, as a message. */
  toMessage: (text: string) => Promise<MessageContent>;
};

/** How often it is asked for replies that another chat left behind. */
const missedMs = 5000;

/** Prompt, message, answer, until the person leaves; what is typed meanwhile is sent at once. Gives false after a second Ctrl-C. */
export async function chatInTerminal({ session, toMessage }: ChatDeps): Promise<boolean> {
  const editor = createEditor();
  const left = Promise.withResolvers<boolean>();
  /** What Ctrl-C has stopped, or the hint that a further one leaves. */
  let asked: TurnView | 'leave' | null = null;

  const screen = createChatScreen({
    stream: process.stdout,
    below: () => {
      const current = conversation.current();
      return {
        activity: current && { words: asked === current.view ? 'stopping' : current.view.activity(), since: current.since },
        waiting: conversation.waiting(),
        input: (columns, rows) => layoutInput(editor.cells(), editor.cursor(), span('› ', 'cyan', 'bold'), { columns, rows }),
      };
    },
  });
  const note = (text: string) => screen.print(wrapSpans([span(text, 'dim')], screen.columns()));
  const onFault = (error: unknown) => {
    if (error instanceof Interrupted) return;
    const lines = renderCliError(toCliError(error), plain, screen.columns()).split('\n');
    screen.print(lines.map((line, index): Line => [span(line, ...(index === 0 ? (['red'] as const) : []))]));
  };
  const conversation = createConversation({ session, open: screen.openTurn, onFault, onChange: screen.changed });
  const missed = createMissedReplies(session.coreUrl, session.conversationKey);

  const showMissed = async () => {
    for (const reply of await missed.read()) {
      note(`— ${missedTitle(reply, Date.now())} —`);
      showText(screen, reply.text, isFailure(reply));
      await missed.confirm(reply);
    }
  };
  const leave = (byCommand: boolean) => {
    if (conversation.isBusy()) note('(left; what is not answered yet is shown when you come back)');
    left.resolve(byCommand);
  };
  const stop = () =>
    session.stop().then(
      (running) => running || note('Nothing to stop yet; Ctrl-C again leaves.'),
      (error: unknown) => onFault(error),
    );
  const interrupt = () => {
    const view = conversation.current()?.view ?? null;
    if (asked !== null && (view === null || view === asked)) return leave(false);
    if (view !== null) {
      asked = view;
      void stop();
    } else if (editor.text() !== '') editor.clear();
    else {
      asked = 'leave';
      note('Ctrl-C again or Ctrl-D leaves.');
    }
  };
  const submit = (text: string) => {
    const command = localCommand(text);
    if (command === 'quit') leave(true);
    else if (command === 'help') screen.print(chatHelp.split('\n').map((line) => [span(line)]));
    else conversation.say(toMessage(text), text);
  };
  const on = (event: EditorEvent | null) => {
    if (event?.type !== 'interrupt') asked = null;
    if (event?.type === 'submit') submit(event.text);
    else if (event?.type === 'interrupt') interrupt();
    else if (event?.type === 'leave') leave(true);
    else if (event?.type === 'redraw') return screen.clear();
    screen.changed(true);
  };

  const stopReading = readKeys(process.stdin, process.stdout, {
    onKey: (key) => on(editor.press(key)),
    onPaste: (text) => on((editor.paste(text), null)),
    onEnd: () => leave(true),
  });
  const onResize = () => screen.changed(true);
  const onSignal = () => leave(false);
  process.stdout.on('resize', onResize);
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, onSignal);
  note(`Conversation ${session.conversationKey}. /help shows the commands, Ctrl-D leaves.`);
  void earlierMessages(session).then(editor.remember, () => undefined); // without them arrow-up has those of now
  await showMissed().catch(onFault);
  const timer = setInterval(() => void showMissed().catch(() => undefined), missedMs); // a core that is away is noticed by the next message
  try {
    return await left.promise;
  } finally {
    clearInterval(timer);
    stopReading();
    process.stdout.off('resize', onResize);
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.off(signal, onSignal);
    screen.close();
    session.leave();
  }
}
