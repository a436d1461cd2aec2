import type { MarkedToken, Tokens } from 'marked';
import { plainText, type Dialect } from './dialect.ts';
import { decodeEntities, lexMarkdown, tokensOf } from './lex-markdown.ts';

type Around = { dialect: Dialect; quotes: number; lists: number };

/**
 * Renders Markdown in a platform's dialect. HTML is shown as text, never passed on. A text that is longer than 20,000 units or nested too
 * deeply is rendered as plain words. Cut long texts with `splitMessage` first: it knows code blocks.
 */
export function renderMarkdown(markdown: string, dialect: Dialect): string {
  const tokens = lexMarkdown(markdown);
  if (tokens === null) return dialect.text(markdown);
  try {
    return renderBlocks(tokens, { dialect, quotes: 0, lists: 0 }, '\n\n');
  } catch (error) {
    if (error instanceof RangeError) return dialect.text(markdown);
    throw error;
  }
}

function renderBlocks(tokens: readonly MarkedToken[], around: Around, between: string): string {
  return tokens
    .map((token) => renderBlock(token, around))
    .filter((block) => block !== '')
    .join(between);
}

function renderBlock(token: MarkedToken, around: Around): string {
  const { dialect } = around;
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return '';
    case 'code':
      return dialect.codeBlock(token.text, /^\S*/.exec(token.lang ?? '')?.[0] ?? '');
    case 'heading':
      return renderHeading(token, dialect);
    case 'hr':
      return dialect.rule;
    case 'blockquote':
      return dialect.quote(renderBlocks(tokensOf(token.tokens), { ...around, quotes: around.quotes + 1 }, '\n\n'), around.quotes);
    case 'list':
      return renderList(token, around);
    case 'table':
      return dialect.codeBlock(tableOf(token), '');
    case 'html':
      return dialect.text(token.text.trimEnd());
    case 'paragraph':
      return renderInline(tokensOf(token.tokens), dialect);
    default:
      return renderInline([token], dialect);
  }
}

function renderHeading({ tokens, depth }: Tokens.Heading, dialect: Dialect): string {
  const own = dialect.hasStrongHeadings ? { ...dialect, strong: (inner: string) => inner } : dialect;
  return dialect.heading(renderInline(tokensOf(tokens), own), depth);
}

function renderList({ items, ordered, start }: Tokens.List, around: Around): string {
  const indent = '  '.repeat(around.lists);
  const inside = { ...around, lists: around.lists + 1 };
  const { bullet, ordinal = (number) => number } = around.dialect;
  return items
    .map((item, index) => {
      const marker = ordered ? ordinal(`${Number(start) + index}.`) : bullet;
      const box = item.task ? (item.checked === true ? '☑ ' : '☐ ') : '';
      return `${indent}${marker} ${box}${renderBlocks(tokensOf(item.tokens), inside, '\n')}`;
    })
    .join('\n');
}

function tableOf({ header, rows, align }: Tokens.Table): string {
  const words = (cells: readonly Tokens.TableCell[]) => cells.map(({ tokens }) => renderInline(tokensOf(tokens), plainText));
  return renderTable([words(header), ...rows.map(words)], align);
}

const renderInline = (tokens: readonly MarkedToken[], dialect: Dialect): string =>
  tokens.map((token) => renderSpan(token, dialect)).join('');

function renderSpan(token: MarkedToken, dialect: Dialect): string {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return dialect[token.type](renderInline(tokensOf(token.tokens), dialect));
    case 'codespan':
      return dialect.code(token.text);
    case 'br':
      return '\n';
    case 'link':
      return renderLink(token, dialect);
    case 'image':
      return linkTo(token.href, dialect.text(decodeEntities(token.text || token.href)), dialect);
    case 'escape':
      return dialect.text(token.text);
    case 'text':
      return token.tokens === undefined
        ? dialect.text(decodeEntities(token.text))
        : renderInline(tokensOf(token.tokens), dialect);
    default:
      return dialect.text(token.raw);
  }
}

function renderLink({ href, text, tokens }: Tokens.Link, dialect: Dialect): string {
  return linkTo(href, renderInline(tokensOf(tokens), dialect), dialect, text === href);
}

/** Links only to a page or a person; any other address may be a trick, so its text remains plain words. */
const linkTo = (href: string, inner: string, dialect: Dialect, isBare = false): string =>
  /^(https?|mailto|tg):/i.test(href) ? dialect.link(inner, decodeEntities(href), isBare) : inner;

type Align = 'center' | 'left' | 'right' | null;

/** Renders a table in monospaced text, for platforms that have no tables. The first row is the header. */
function renderTable(rows: readonly (readonly string[])[], aligns: readonly Align[]): string {
  const widths = aligns.map((_, column) => Math.max(3, ...rows.map((row) => lengthOf(row[column] ?? ''))));
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, aligns[column] ?? null))
      .join(' | ')
      .trimEnd(),
  );
  const [head = '', ...body] = lines;
  return [head, widths.map((width) => '-'.repeat(width)).join('-|-'), ...body].join('\n');
}

function pad(text: string, width: number, align: Align): string {
  const missing = width - lengthOf(text);
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(missing - before);
}

const lengthOf = (text: string): number => Array.from(text).length;
