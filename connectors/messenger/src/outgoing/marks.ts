import type { Dialect } from '@svc/connector-kit/markdown';
import { cleanText } from './clean-text.ts';
import { tidyEntities, type Entity, type FormattedText } from './formatted-text.ts';
import { toLink } from './link-address.ts';

/** A mark is `begin kind value middle`, its end `close`: noncharacters, which no cleaned text has. */
const [begin, middle, close] = ['\ufdd0', '\ufdd1', '\ufdd2'] as const;

type Kind = Entity['type'];
const mark = (kind: Kind, inner: string, value = ''): string => `${begin}${kind} ${value}${middle}${inner}${close}`;
const marks = /\ufdd0(\w+) ([^\ufdd1]*)\ufdd1|(\ufdd2)|([^\ufdd0\ufdd2]+)/g;

/** `||words||`, tight, within a line: an "or" of a program has blanks around it. */
const spoiler = /\|\|(?=\S)([^\n|]+)(?<=\S)\|\|/g;
/** Longer quotes can be opened by their reader. */
const longQuote = { chars: 800, lines: 12 };

const languageOf = (name: string): string => (/^[\w+#.-]{1,40}$/.test(name) ? name : '');
const isLongQuote = (words: string): boolean => words.length > longQuote.chars || words.split('\n').length > longQuote.lines;

/** Markdown with marks in the places where Telegram has entities. */
export const markedText: Dialect = {
  text: (words) => cleanText(words).replaceAll(spoiler, (_, inner: string) => mark('spoiler', inner)),
  strong: (inner) => mark('bold', inner),
  em: (inner) => mark('italic', inner),
  del: (inner) => mark('strikethrough', inner),
  code: (words) => mark('code', cleanText(words)),
  codeBlock: (words, language) => mark('pre', cleanText(words), languageOf(language)),
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

/** A text with marks as one with entities. */
export function readMarks(marked: string): FormattedText {
  const entities: Entity[] = [];
  const open: Entity[] = [];
  let text = '';
  for (const [, kind, value = '', end, words] of marked.matchAll(marks)) {
    if (words !== undefined) text += words;
    else if (end === undefined) open.push(entities[entities.push(toEntity(kind as Kind, text.length, value)) - 1]!);
    else {
      const ended = open.pop();
      if (ended !== undefined) ended.length = text.length - ended.offset;
    }
  }
  return tidyEntities({ text, entities });
}

function toEntity(type: Kind, offset: number, value: string): Entity {
  if (type === 'text_link') return { type, offset, length: 0, url: value };
  return { type, offset, length: 0, ...(type === 'pre' && value !== '' && { language: value }) } as Entity;
}
