import { graphemes, columnsOf } from '../screen/spans.ts';
import { visible } from '../terminal.ts';

/** One cursor position: a character, or a paste that is shown shortened and deleted as a whole. */
export type Cell = { readonly text: string; readonly shown: string };

/** A longer paste is shown as one word. */
const shownPaste = { lines: 8, chars: 800 };

/** The text being typed: characters, and the cursor before one of them. */
export type LineBuffer = {
  cells(): readonly Cell[];
  cursor(): number;
  text(): string;
  set(text: string): void;
  insert(text: string): void;
  paste(text: string): void;
  /** Moves by characters; returns false at the end. */
  move(by: number): boolean;
  /** To the beginning or the end of the cursor's line. */
  toLineEdge(edge: 'begin' | 'end'): void;
  /** To the line above or below, at about the same column; false when there is none. */
  moveLine(by: -1 | 1): boolean;
  moveWord(by: -1 | 1): void;
  /** Deletes up to the target of a move, and returns the deleted text. */
  erase(by: -1 | 1): Cell[];
  eraseWord(by: -1 | 1): Cell[];
  eraseLine(edge: 'begin' | 'end'): Cell[];
  put(cells: readonly Cell[]): void;
};

export function createLineBuffer(): LineBuffer {
  let cells: Cell[] = [];
  let at = 0;

  const isBreak = (index: number) => cells[index]?.text === '\n';
  const lineBegin = (from = at) => {
    let index = from;
    while (index > 0 && !isBreak(index - 1)) index--;
    return index;
  };
  const lineEnd = (from = at) => {
    let index = from;
    while (index < cells.length && !isBreak(index)) index++;
    return index;
  };
  const isWordAt = (index: number) => /[\p{L}\p{N}_]/u.test(cells[index]?.text ?? '');
  const wordEdge = (by: -1 | 1) => {
    let index = at;
    const next = () => (by === 1 ? index : index - 1);
    const inside = () => (by === 1 ? index < cells.length : index > 0);
    while (inside() && !isWordAt(next())) index += by;
    while (inside() && isWordAt(next())) index += by;
    return index;
  };
  const eraseTo = (edge: number): Cell[] => {
    const [from, to] = edge < at ? [edge, at] : [at, edge];
    at = from;
    return cells.splice(from, to - from);
  };
  const put = (more: readonly Cell[]) => {
    cells = [...cells.slice(0, at), ...more, ...cells.slice(at)];
    at += more.length;
  };
  const insert = (text: string) => {
    const clean = cleanInput(text);
    const before = cells[at - 1];
    // An accent that follows its letter becomes part of it.
    const joined = before !== undefined && before.shown === before.text ? toCells(before.text + clean) : [];
    if (before === undefined || joined.length === 0 || joined[0]?.text === before.text) return put(toCells(clean));
    eraseTo(at - 1);
    put(joined);
  };

  return {
    cells: () => cells,
    cursor: () => at,
    text: () => cells.map(({ text }) => text).join(''),
    set(text) {
      cells = toCells(cleanInput(text));
      at = cells.length;
    },
    insert,
    paste(text) {
      const clean = cleanInput(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
      const lines = clean.split('\n').length;
      const isLong = lines > shownPaste.lines || clean.length > shownPaste.chars;
      if (!isLong) return insert(clean);
      put([{ text: clean, shown: `[pasted: ${lines > 1 ? `${lines} lines` : `${clean.length} characters`}]` }]);
    },
    move(by) {
      const to = Math.min(cells.length, Math.max(0, at + by));
      const hasMoved = to !== at;
      at = to;
      return hasMoved;
    },
    toLineEdge: (edge) => void (at = edge === 'begin' ? lineBegin() : lineEnd()),
    moveLine(by) {
      const column = at - lineBegin();
      const edge = by === 1 ? lineEnd() : lineBegin() - 1;
      if (edge < 0 || edge >= cells.length) return false;
      const begin = by === 1 ? edge + 1 : lineBegin(edge);
      at = Math.min(begin + column, lineEnd(begin));
      return true;
    },
    moveWord: (by) => void (at = wordEdge(by)),
    erase: (by) => eraseTo(Math.min(cells.length, Math.max(0, at + by))),
    eraseWord: (by) => eraseTo(wordEdge(by)),
    eraseLine: (edge) => eraseTo(edge === 'begin' ? lineBegin() : lineEnd()),
    put,
  };
}

/** Text as a message accepts it: line breaks and tabs, but no other control characters. */
const cleanInput = (text: string): string => text.toWellFormed().replaceAll(/[^\P{Cc}\n\t]/gu, '');

const toCells = (text: string): Cell[] => graphemes(text).map((sign) => ({ text: sign, shown: shownSign(sign) }));
const shownSign = (sign: string): string => (sign === '\t' ? '  ' : sign === '\n' ? '\n' : visible(sign));

/** The columns that a cell takes at its position. */
export const cellColumns = ({ shown }: Cell): number => (shown === '\n' ? 0 : columnsOf(shown));
