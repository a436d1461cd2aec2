import { cleanText, languageName, mark, readMarks, withSpoilers, type Dialect } from '@svc/connector-kit/markdown';
import { toLink } from './link-address.ts';

/** A longer quote is shown collapsed. */
const longQuote = { chars: 800, lines: 12 };

const isLongQuote = (words: string): boolean => words.length > longQuote.chars || words.split('\n').length > longQuote.lines;

/** Marks what Telegram shows as entities. */
export const markedText: Dialect = {
  text: (words) => withSpoilers(cleanText(words)),
  strong: (inner) => mark('bold', inner),
  em: (inner) => mark('italic', inner),
  del: (inner) => mark('strikethrough', inner),
  code: (words) => mark('code', cleanText(words)),
  codeBlock: (words, language) => mark('pre', cleanText(words), languageName(language)),
  link(inner, address, isBare) {
    if (isBare) return inner;
    const url = toLink(address);
    if (url !== null) return mark('text_link', inner, url);
    return readMarks(inner).text === address ? inner : `${inner} (${cleanText(address)})`;
  },
  heading: (inner) => mark('bold', inner),
  hasStrongHeadings: true,
  quote: (inner, depth) => {
    if (depth > 0) return inner;
    return mark(isLongQuote(readMarks(inner).text) ? 'expandable_blockquote' : 'blockquote', inner);
  },
  bullet: '•',
  rule: '———',
};
