import { createLineBuffer, type Cell, type LineBuffer } from './line-buffer.ts';

/** A key as Node names it. */
export type Key = { name?: string; sequence?: string; ctrl?: boolean; meta?: boolean; shift?: boolean };

/** The action of a key, besides changing the text. `shown`: the text with long pastes shortened. */
export type EditorEvent = { type: 'submit'; text: string; shown: string } | { type: 'interrupt' | 'leave' | 'redraw' };

/** The editor of a message, with the history of earlier ones. */
export type Editor = Pick<LineBuffer, 'cells' | 'cursor' | 'text'> & {
  press(key: Key): EditorEvent | null;
  paste(text: string): void;
  clear(): void;
  /** Adds earlier messages, oldest first, before those of this session. */
  remember(texts: readonly string[]): void;
};

const mostRemembered = 500;

export function createEditor(): Editor {
  const buffer = createLineBuffer();
  let history: string[] = [];
  let back = 0;
  let draft = '';
  let killed: Cell[] = [];

  /** `by`: -1 for an older one. */
  const recall = (by: -1 | 1) => {
    const to = back - by;
    if (to < 0 || to > history.length) return;
    if (back === 0) draft = buffer.text();
    back = to;
    buffer.set(back === 0 ? draft : (history.at(-back) ?? ''));
  };
  const clear = () => {
    buffer.set('');
    back = 0;
  };
  const submit = (): EditorEvent | null => {
    const text = buffer.text();
    if (buffer.cells()[buffer.cursor() - 1]?.text === '\\') {
      buffer.erase(-1);
      buffer.insert('\n');
      return null;
    }
    if (text.trim() === '') return null;
    if (history.at(-1) !== text) history = [...history, text].slice(-mostRemembered);
    const shown = buffer
      .cells()
      .map((cell) => cell.shown)
      .join('');
    clear();
    return { type: 'submit', text, shown };
  };

  const control: Readonly<Record<string, () => EditorEvent | null | void>> = {
    a: () => buffer.toLineEdge('begin'),
    e: () => buffer.toLineEdge('end'),
    b: () => void buffer.move(-1),
    f: () => void buffer.move(1),
    h: () => void buffer.erase(-1),
    j: () => buffer.insert('\n'),
    k: () => void (killed = buffer.eraseLine('end')),
    u: () => void (killed = buffer.eraseLine('begin')),
    w: () => void (killed = buffer.eraseWord(-1)),
    y: () => buffer.put(killed),
    p: () => recall(-1),
    n: () => recall(1),
    left: () => buffer.moveWord(-1),
    right: () => buffer.moveWord(1),
    l: () => ({ type: 'redraw' }),
    c: () => ({ type: 'interrupt' }),
    d: () => (buffer.cells().length === 0 ? { type: 'leave' } : void buffer.erase(1)),
  };
  const withAlt: Readonly<Record<string, () => void>> = {
    b: () => buffer.moveWord(-1),
    f: () => buffer.moveWord(1),
    left: () => buffer.moveWord(-1),
    right: () => buffer.moveWord(1),
    d: () => void (killed = buffer.eraseWord(1)),
    backspace: () => void (killed = buffer.eraseWord(-1)),
    return: () => buffer.insert('\n'),
    enter: () => buffer.insert('\n'),
  };
  const bare: Readonly<Record<string, () => EditorEvent | null | void>> = {
    return: submit,
    // Ctrl-J, which some terminals send for Shift-Enter.
    enter: () => buffer.insert('\n'),
    left: () => void buffer.move(-1),
    right: () => void buffer.move(1),
    home: () => buffer.toLineEdge('begin'),
    end: () => buffer.toLineEdge('end'),
    up: () => void (buffer.moveLine(-1) || recall(-1)),
    down: () => void (buffer.moveLine(1) || recall(1)),
    backspace: () => void buffer.erase(-1),
    delete: () => void buffer.erase(1),
    tab: () => buffer.insert('  '),
    escape: () => undefined,
  };

  return {
    cells: buffer.cells,
    cursor: buffer.cursor,
    text: buffer.text,
    press(key) {
      const { name = '', sequence = '', ctrl = false, meta = false } = key;
      if (newlineSequences.has(sequence)) return (buffer.insert('\n'), null);
      const actions = ctrl ? control : meta ? withAlt : bare;
      if (Object.hasOwn(actions, name)) return actions[name]?.() ?? null;
      // Any other escape sequence is a key without a function here.
      if (!ctrl && !meta && !sequence.startsWith('\u001B')) buffer.insert(sequence);
      return null;
    },
    paste: buffer.paste,
    clear,
    remember: (texts) => void (history = [...texts, ...history].slice(-mostRemembered)),
  };
}

/** Shift-Enter, Alt-Enter and Ctrl-Enter of terminals that distinguish them from Enter. */
const newlineSequences = new Set([
  ...['2', '3', '5'].flatMap((modifier) => [`\u001B[13;${modifier}u`, `\u001B[27;${modifier};13~`]),
  '\u001B\r',
  '\u001B\n',
]);
