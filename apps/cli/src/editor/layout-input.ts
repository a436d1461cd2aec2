import { span, type Line, type Span } from '../screen/spans.ts';
import { cellColumns, type Cell } from './line-buffer.ts';

export type InputLayout = { lines: Line[]; cursor: { row: number; column: number } };

type Place = { columns: number; rows: number };

/** The input as lines of a screen: `prompt` before the first line, the others indented alike; when there are too many, only those around the cursor. */
export function layoutInput(cells: readonly Cell[], at: number, prompt: Span, { columns, rows }: Place): InputLayout {
  const indent = Array.from(prompt.text).length;
  const lines: Span[][] = [[prompt]];
  let used = indent;
  const begin = () => {
    lines.push([span(' '.repeat(indent))]);
    used = indent;
  };
  let cursor = { row: 0, column: indent };
  for (const [index, cell] of [...cells, null].entries()) {
    const width = cell === null ? 1 : Math.max(cellColumns(cell), cell.shown === '\n' ? 1 : 0);
    // The cursor needs a column of its own after the last character.
    if (used + width > columns && used > indent) begin();
    if (index === at) cursor = { row: lines.length - 1, column: used };
    if (cell === null) break;
    if (cell.shown === '\n') begin();
    else {
      addTo(lines.at(-1) ?? [], cell);
      used += width;
    }
  }
  const from = Math.min(Math.max(0, cursor.row - rows + 1), Math.max(0, lines.length - rows));
  return { lines: lines.slice(from, from + rows), cursor: { row: cursor.row - from, column: cursor.column } };
}

/** Joins neighbours of the same look into one span. */
function addTo(line: Span[], cell: Cell): void {
  const isShortened = cell.shown !== cell.text && cell.text.length > 1 && cell.shown.startsWith('[');
  const last = line.at(-1);
  if (isShortened) line.push(span(cell.shown, 'dim'));
  else if (line.length > 1 && last !== undefined && last.looks.length === 0) last.text += cell.shown;
  else line.push({ text: cell.shown, looks: [] });
}
