import { createEditor, type Editor, type EditorEvent } from '../editor/editor.ts';
import { readKeys, type KeyHandlers } from '../editor/key-source.ts';
import { layoutInput, type InputLayout } from '../editor/layout-input.ts';
import { span } from '../screen/spans.ts';
import type { ChatScreen } from './chat-screen.ts';

/** The input below a chat, and the actions of its keys. */
export type TypedInput = {
  editor: Editor;
  handlers: KeyHandlers;
  layout: (columns: number, rows: number) => InputLayout;
};

const prompt = span('› ', 'cyan', 'bold');

/** `on` receives the action of a key, or null when only the text changed. */
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

/** Listens to the terminal until the returned function is called. A signal must not leave the terminal in raw mode. */
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
