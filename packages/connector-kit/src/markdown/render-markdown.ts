import { Lexer, type MarkedToken, type Tokens } from 'marked';
import { BoundedTokenizer } from './bounded-tokenizer.ts';
import { plainText, type Dialect } from './dialect.ts';

type Around = { dialect: Dialect; quotes: number; lists: number };

/** Longer texts are no message of any platform, and some would take the parser long. */
const mostUnits = 20_000;
/** A word without an end, which the parser reads again at each of its characters, and a line of nothing but marks of quotes and lists. */
const takesLong = /[\w.!#$%&'*+/=?`{|}~-]{2000}|^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){64}/m;

/**
 * Markdown as a platform writes it. HTML is shown as it is written, never passed on. A text that is longer than
 * 20,000 units or nests too deeply is given as the words it consists of. Cut long texts with `splitMessage` before: it knows code blocks.
 */
export function renderMarkdown(markdown: string, dialect: Dialect): string {
  if (markdown.length > mostUnits || takesLong.test(markdown)) return dialect.text(markdown);
  try {
    return renderBlocks(
      tokensOf(new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() }).lex(markdown)),
      { dialect, quotes: 0, lists: 0 },
      '\n\n',
    );
  } catch (error) {
    if (error instanceof RangeError) return dialect.text(markdown);
    throw error;
  }
}

/** The parser is only bounded, not extended, so there are no tokens but its own. */
const tokensOf = (tokens: readonly Tokens.Generic[] | undefined): MarkedToken[] => (tokens ?? []) as MarkedToken[];

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
  return items
    .map((item, index) => {
      const marker = ordered ? `${Number(start) + index}.` : around.dialect.bullet;
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
      return dialect.link(dialect.text(decodeEntities(token.text || token.href)), token.href, false);
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
  const inner = renderInline(tokensOf(tokens), dialect);
  // Only what leads to a page or a person; anything else is a trick.
  return /^(https?|mailto|tg):/i.test(href) ? dialect.link(inner, href, text === href) : inner;
}

type Align = 'center' | 'left' | 'right' | null;

/** A table in letters of one width, for platforms that have none. The first row is its head. */
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

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };
/** The character references that people and models write; others stay as they are. */
const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return namedEntities[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD';
    },
  );

const isCharacter = (code: number): boolean => code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
