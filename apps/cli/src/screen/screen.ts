import type { Style } from '../terminal.ts';
import { columnsOf, graphemes, lineColumns, paint, type Line } from './spans.ts';

/** The changing area at the bottom of the screen, and the cursor within it; null hides the cursor. */
export type LiveArea = { lines: readonly Line[]; cursor: { row: number; column: number } | null };

/** A terminal with a changing area below the printed lines. */
export type Screen = {
  columns(): number;
  rows(): number;
  /** Prints lines permanently, and redraws the live area below them. */
  update(printed: readonly Line[], live: LiveArea): void;
  /** Removes the live area; printed lines stay. */
  close(): void;
};

export type TerminalStream = { columns?: number; rows?: number; write(text: string): unknown };

/** Marks of a synchronized update, which avoids flicker; terminals without support ignore them. */
const [beginFrame, endFrame] = ['\u001B[?2026h', '\u001B[?2026l'];
const [showCursor, hideCursor] = ['\u001B[?25h', '\u001B[?25l'];
const usual = { columns: 80, rows: 24 };

export function createScreen(stream: TerminalStream, style: Style): Screen {
  let widths: number[] = [];
  let place = { row: 0, column: 0 };
  let isHidden = false;
  const columns = () => Math.max(2, stream.columns || usual.columns);

  /** Moves to the start of the live area. A window that became narrower has wrapped its lines. */
  const erase = (): string => {
    const rowsOf = (width: number) => Math.max(1, Math.ceil(width / columns()));
    const above = widths.slice(0, place.row).reduce((sum, width) => sum + rowsOf(width), 0);
    const up = above + Math.floor(Math.min(place.column, Math.max(0, (widths[place.row] ?? 0) - 1)) / columns());
    return `\r${up > 0 ? `\u001B[${up}A` : ''}\u001B[J`;
  };

  const draw = ({ lines, cursor }: LiveArea): string => {
    const fitting = lines.map((line) => cutLine(line, columns() - 1));
    widths = fitting.map(lineColumns);
    const end = { row: Math.max(0, fitting.length - 1), column: widths.at(-1) ?? 0 };
    place = cursor === null ? end : { row: cursor.row, column: Math.min(cursor.column, columns() - 1) };
    const up = fitting.length - 1 - place.row;
    const move = cursor === null ? '' : `\r${up > 0 ? `\u001B[${up}A` : ''}${place.column > 0 ? `\u001B[${place.column}C` : ''}`;
    isHidden = cursor === null && lines.length > 0;
    return `${fitting.map((line) => paint(line, style)).join('\r\n')}${move}${isHidden ? hideCursor : showCursor}`;
  };

  return {
    columns,
    rows: () => Math.max(4, stream.rows || usual.rows),
    update(printed, live) {
      const above = printed.map((line) => `${paint(line, style)}\r\n`).join('');
      stream.write(beginFrame + erase() + above + draw(live) + endFrame);
    },
    close() {
      stream.write(erase() + (isHidden ? showCursor : ''));
      [widths, place, isHidden] = [[], { row: 0, column: 0 }, false];
    },
  };
}

/** The part of a line that fits into one row. */
function cutLine(line: Line, columns: number): Line {
  if (lineColumns(line) <= columns) return line;
  const cut: { text: string; looks: Line[number]['looks'] }[] = [];
  let room = columns - 1;
  for (const { text, looks } of line) {
    let kept = '';
    for (const sign of graphemes(text)) {
      room -= columnsOf(sign);
      if (room < 0) return [...cut, { text: `${kept}…`, looks }];
      kept += sign;
    }
    cut.push({ text: kept, looks });
  }
  return cut;
}
