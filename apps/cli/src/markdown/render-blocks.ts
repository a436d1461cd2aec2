import { lexMarkdown, tokensOf, type MarkedToken, type Tokens } from '@svc/connector-kit/markdown/lex-markdown.ts';
import { lineColumns, span, wrapSpans, type Line, type Span } from '../screen/spans.ts';
import { inlineSpans } from './inline-spans.ts';
import { renderTable } from './render-table.ts';

/** Narrower lines are not indented any further. */
const leastColumns = 12;
const longestRule = 40;

/** Markdown as lines of a screen with this many columns. Text that cannot be parsed in bounded time is shown as written. */
export function renderBlocks(markdown: string, columns: number): Line[] {
  const tokens = lexMarkdown(markdown);
  if (tokens === null) return wrapSpans([span(markdown.trimEnd())], columns);
  try {
    return blocks(tokens, columns, true);
  } catch (error) {
    if (error instanceof RangeError) return wrapSpans([span(markdown.trimEnd())], columns);
    throw error;
  }
}

function blocks(tokens: readonly MarkedToken[], columns: number, isLoose: boolean): Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    const block = renderBlock(token, columns);
    if (block.length === 0) continue;
    if (isLoose && lines.length > 0) lines.push([]);
    lines.push(...block);
  }
  return lines;
}

function renderBlock(token: MarkedToken, columns: number): Line[] {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return [];
    case 'code':
      return [codeHead(token.lang ?? '', columns), ...codeLines(token.text), codeFoot(columns)];
    case 'heading':
      return wrapSpans(inlineSpans(tokensOf(token.tokens), token.depth === 1 ? ['bold', 'underline'] : ['bold']), columns);
    case 'hr':
      return [rule(columns)];
    case 'blockquote':
      return indented(columns, [span('│ ', 'dim')], [span('│ ', 'dim')], (room) => blocks(tokensOf(token.tokens), room, true));
    case 'list':
      return renderList(token, columns);
    case 'table':
      return renderTable(token, columns);
    case 'html':
      return wrapSpans([span(token.text.trimEnd())], columns);
    case 'paragraph':
      return wrapSpans(inlineSpans(tokensOf(token.tokens)), columns);
    default:
      return wrapSpans(inlineSpans([token]), columns);
  }
}

function renderList({ items, ordered, start, loose }: Tokens.List, columns: number): Line[] {
  const markers = items.map(({ task, checked }, index) => {
    const box = task ? (checked === true ? '☑ ' : '☐ ') : '';
    return (ordered ? `${Number(start) + index}. ` : task ? '' : '• ') + box;
  });
  return items.flatMap((item, index) => {
    const marker = [span(markers[index] ?? '', 'cyan')];
    const shown = indented(columns, marker, [span(' '.repeat(lineColumns(marker)))], (room) =>
      blocks(tokensOf(item.tokens), room, loose),
    );
    const lines = shown.length === 0 ? [marker] : shown;
    return loose && index > 0 ? [[], ...lines] : lines;
  });
}

/** Lines with a prefix, unless a narrow screen leaves too little room for it. */
function indented(columns: number, first: Line, rest: Line, render: (columns: number) => Line[]): Line[] {
  const taken = lineColumns(first);
  if (columns - taken < leastColumns) {
    const [head = [], ...others] = render(columns);
    return [...wrapSpans([...first, ...head], columns), ...others];
  }
  return render(columns - taken).map((line, index) => [
    ...(index === 0 ? first : line.length === 0 ? withoutEnd(rest) : rest),
    ...line,
  ]);
}

/** Removes blanks at the end of an empty line. */
const withoutEnd = (line: Line): Line =>
  line.map(({ text, looks }) => ({ text: text.trimEnd(), looks })).filter(({ text }) => text !== '');

const rule = (columns: number): Line => [span('─'.repeat(Math.min(columns, longestRule)), 'dim')];

/** The line above a code block, with its language. */
export function codeHead(info: string, columns: number): Line {
  const language = /^\S{0,20}/.exec(info.trim())?.[0] ?? '';
  if (language === '') return rule(columns);
  const title = `── ${language} `;
  return [span(title + '─'.repeat(Math.max(0, Math.min(columns, longestRule) - title.length)), 'dim')];
}
export const codeFoot = rule;

/** Code is neither wrapped nor indented, so that it can be copied from the screen. */
export const codeLine = (text: string): Span[] => [span(text)];
const codeLines = (text: string): Line[] => text.split('\n').map(codeLine);
