import { Lexer, type MarkedToken, type Tokens } from 'marked';
import { BoundedTokenizer } from './bounded-tokenizer.ts';

export type { MarkedToken, Tokens };

/** No platform has longer messages, and some longer texts would take the parser very long. */
export const mostUnits = 20_000;
/** A very long word, which the parser reads again from each of its characters, or a line with very many quote and list marks. */
const takesLong = /[\w.!#$%&'*+/=?`{|}~-]{2000}|^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){64}/m;

/** Parses Markdown into blocks, in bounded time. Null for a text that is longer than 20,000 units or nested too deeply. */
export function lexMarkdown(markdown: string): MarkedToken[] | null {
  if (markdown.length > mostUnits || takesLong.test(markdown)) return null;
  try {
    return tokensOf(new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() }).lex(markdown));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The parser is restricted but not extended, so there are no other tokens than its own. */
export const tokensOf = (tokens: readonly Tokens.Generic[] | undefined): MarkedToken[] => (tokens ?? []) as MarkedToken[];

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };
/** Decodes the character references that people and models write; others are left unchanged. */
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
