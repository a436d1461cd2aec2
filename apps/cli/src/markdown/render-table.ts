import { tokensOf, type Tokens } from '@svc/connector-kit/markdown/lex-markdown.ts';
import { lineColumns, span, wrapSpans, type Line, type Span } from '../screen/spans.ts';
import { inlineSpans } from './inline-spans.ts';

type Align = 'center' | 'left' | 'right' | null;
type Cell = readonly Span[];

const between = ' │ ';
/** A narrower column cannot be read. */
const leastColumn = 4;

/** A table as wide as needed, within the screen; when it does not fit, each row becomes a list of its cells. */
export function renderTable({ header, rows, align }: Tokens.Table, columns: number): Line[] {
  const head: Cell[] = header.map(({ tokens }) => inlineSpans(tokensOf(tokens), ['bold']));
  const body: Cell[][] = rows.map((row) => row.map(({ tokens }) => inlineSpans(tokensOf(tokens))));
  const widths = columnWidths([head, ...body], columns);
  if (widths === null) return asRecords(head, body, columns);
  const rule = span(widths.map((width) => '─'.repeat(width)).join('─┼─'), 'dim');
  return [...renderRow(head, widths, align), [rule], ...body.flatMap((row) => renderRow(row, widths, align))];
}

/** The width of each column; the widest shrink until all fit. Null when they do not. */
function columnWidths(rows: readonly (readonly Cell[])[], columns: number): number[] | null {
  const count = rows[0]?.length ?? 0;
  const room = columns - between.length * (count - 1);
  const wanted = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => Math.max(0, ...wrapSpans(row[column] ?? [], columns).map(lineColumns)))),
  );
  if (sum(wanted) <= room) return wanted;
  const cap = widestCap(wanted, room);
  return cap < leastColumn ? null : wanted.map((width) => Math.min(width, cap));
}

/** The largest column limit with which all columns fit. */
function widestCap(wanted: readonly number[], room: number): number {
  let cap = Math.max(...wanted);
  while (cap > 0 && sum(wanted.map((width) => Math.min(width, cap))) > room) cap--;
  return cap;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function renderRow(row: readonly Cell[], widths: readonly number[], align: readonly Align[]): Line[] {
  const cells = widths.map((width, column) => wrapSpans(row[column] ?? [], width));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    widths.flatMap((width, column) => {
      const last = column === widths.length - 1;
      const cell = pad(cells[column]?.[at] ?? [], width, align[column] ?? null, last);
      return last ? cell : [...cell, span(between, 'dim')];
    }),
  );
}

function pad(line: Line, width: number, align: Align, isLast: boolean): Span[] {
  const missing = Math.max(0, width - lineColumns(line));
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  const after = isLast ? 0 : missing - before;
  return [blanks(before), ...line, blanks(after)].filter(({ text }) => text !== '');
}

const blanks = (count: number): Span => span(' '.repeat(count));

function asRecords(head: readonly Cell[], body: readonly (readonly Cell[])[], columns: number): Line[] {
  return body.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...head.flatMap((title, column) => wrapSpans([...title, span(': '), ...(row[column] ?? [])], columns)),
  ]);
}
