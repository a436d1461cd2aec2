import { createEditor, type Editor, type EditorEvent } from '../editor/editor.ts';
import { readKeys, type KeyHandlers } from '../editor/key-source.ts';
import { layoutInput, type InputLayout } from '../editor/layout-input.ts';
import { span } from '../screen/spans.ts';
import type { ChatScreen } from './chat-screen.ts';

/** What is typed below a chat, and what the keys do to it. */
export type TypedInput = {
  editor: Editor;
  handlers: KeyHandlers;
  layout: (columns: number, rows: number) => InputLayout;
};

const prompt = span('› ', 'cyan', 'bold');

/** `on` gets what a key asks for, null where it only changed the text. */
export function createTypedInput(on: (event: EditorEvent | null) => void): TypedInput {
  const editor = createEditor();
  return {
    editor,
    layout: (columns, rows) => layoutInput(editor.cells(), editor.cursor(), prompt, { columns, rows }),
    handlers: {
      onKey: (key) => on(editor.press(key)),
      onPaste: (text) => on((editor.paste(text), null)),
      onEnd: () => on({ type: 'leave' }),
    },
  };
}

type Attended = { screen: ChatScreen; handlers: KeyHandlers; signals: readonly NodeJS.Signals[]; onSignal: () => void };

/** Listens to the terminal until the function that this gives is called; a signal must not leave the terminal as it is then. */
export function attend({ screen, handlers, signals, onSignal }: Attended): () => void {
  const stopReading = readKeys(process.stdin, process.stdout, handlers);
  const onResize = () => screen.changed(true);
  process.stdout.on('resize', onResize);
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    stopReading();
    process.stdout.off('resize', onResize);
    for (const signal of signals) process.off(signal, onSignal);
  };
}
