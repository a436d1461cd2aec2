import { Lexer, type MarkedToken, type Tokens } from 'marked';
import { BoundedTokenizer } from './bounded-tokenizer.ts';

export type { MarkedToken, Tokens };

/** Longer texts are no message of any platform, and some would take the parser long. */
export const mostUnits = 20_000;
/** A word without an end, which the parser reads again at each of its characters, and a line of nothing but marks of quotes and lists. */
const takesLong = /[\w.!#$%&'*+/=?`{|}~-]{2000}|^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){64}/m;

/** Markdown as blocks, in bounded time; null for what is longer than 20,000 units or nests too deeply. */
export function lexMarkdown(markdown: string): MarkedToken[] | null {
  if (markdown.length > mostUnits || takesLong.test(markdown)) return null;
  try {
    return tokensOf(new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() }).lex(markdown));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The parser is only bounded, not extended, so there are no tokens but its own. */
export const tokensOf = (tokens: readonly Tokens.Generic[] | undefined): MarkedToken[] => (tokens ?? []) as MarkedToken[];

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };
/** The character references that people and models write; others stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return namedEntities[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD';
    },
  );

const isCharacter = (code: number): boolean => code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
