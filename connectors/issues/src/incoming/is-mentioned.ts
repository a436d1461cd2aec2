import { splitMessage } from '@svc/connector-kit';
import { lexMarkdown, mostUnits, tokensOf, type MarkedToken } from '@svc/connector-kit/markdown/lex-markdown.ts';

/** Whether a text mentions an account: as a separate word, in visible text that is not a quote. */
export function createMentionMatcher(token: string): (markdown: string) => boolean {
  const [before, after] = [lettersNextTo(token.slice(0, 2)), lettersNextTo(token.slice(-2))];
  const pattern = new RegExp(`(?<![${before}_@\\/.\\\\+\\-])${literal(token)}(?![${after}_@\\/\\-]|[.][${after}])`, 'iv');
  // Most texts do not have it at all.
  const anywhere = new RegExp(literal(token), 'iv');
  return (markdown) => anywhere.test(markdown) && pattern.test(ownWords(markdown));
}

/** Writing without blanks between words. */
const unspaced = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((name) => `\\p{scx=${name}}`)
  .join('');
const isUnspaced = new RegExp(`[${unspaced}]`, 'v');

/** What goes on with the word that a token begins or ends with. Beside one in another writing, writing without blanks is a word of its own. */
const lettersNextTo = (end: string): string => {
  const letters = '\\p{L}\\p{N}\\p{M}';
  return isUnspaced.test(end) ? letters : `[[${letters}]--[${unspaced}]]`;
};

/** A text of a pattern that is this text. */
const literal = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`);

/** The words of a text that are its writer's own. */
export const ownWords = (markdown: string): string =>
  partsOf(markdown)
    .flatMap((part) => proseOf(lexMarkdown(part) ?? []))
    .join('\n');

/** What nobody sees is not said. An open comment hides all that follows. */
export const withoutHidden = (markdown: string): string => markdown.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '');

/** Parts that the parser takes, code blocks whole or opened again. */
function partsOf(markdown: string): string[] {
  if (markdown.length <= mostUnits) return [markdown];
  return splitMessage(withoutHidden(markdown), mostUnits - 1000);
}

/** Words of each block, without code, quotes, links and HTML. */
function proseOf(tokens: readonly MarkedToken[]): string[] {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case 'paragraph':
      case 'heading':
        return [wordsOf(token.tokens)];
      case 'text':
        return [token.tokens === undefined ? token.text : wordsOf(token.tokens)];
      case 'list':
        return token.items.flatMap((item) => proseOf(tokensOf(item.tokens)));
      case 'table':
        return [...token.header, ...token.rows.flat()].map((cell) => wordsOf(cell.tokens));
      default:
        return [];
    }
  });
}

/** What stands in the place of what is no words: no letter, so that it ends a word. */
const gap = '\uFFFC';
/** Within these HTML elements words are a link, code, or a quote. */
const foreign = /^<(\/?)(a|code|pre|blockquote|q|cite|kbd|samp|del|s|script|style|template)\b/i;

function wordsOf(tokens: readonly { type: string; raw: string }[] | undefined): string {
  let depth = 0;
  let words = '';
  for (const token of tokensOf(tokens as never)) {
    if (token.type === 'html') {
      const [, close, name] = foreign.exec(token.raw) ?? [];
      if (name !== undefined) depth = Math.max(0, depth + (close === '' ? 1 : -1));
      words += gap;
    } else words += depth > 0 ? gap : wordOf(token);
  }
  return words;
}

function wordOf(token: MarkedToken): string {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? token.text : wordsOf(token.tokens);
    case 'strong':
    case 'em':
      return wordsOf(token.tokens);
    case 'escape':
      return token.text;
    case 'br':
      return '\n';
    default:
      return gap;
  }
}
