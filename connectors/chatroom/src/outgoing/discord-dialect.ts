import { cleanText, languageName, mark, readMarks, withSpoilers, type Dialect } from '@svc/connector-kit/markdown';
import { cleanAddress } from './write-discord.ts';

/** People, roles, channels, emojis, times and commands, as Discord writes them in a text. */
const sign = /<(?:@[!&]?\d{15,21}|#\d{15,21}|a?:\w{2,32}:\d{15,21}|t:-?\d{1,13}(?::[tTdDfFR])?|\/[\w -]{1,100}:\d{15,21})>/g;

/** Markdown with marks for what Discord shows in its own way. */
export const discordDialect: Dialect = {
  text: (words) => withSpoilers(cleanText(words).replaceAll(sign, (each) => mark('verbatim', each))),
  strong: (inner) => mark('bold', inner),
  em: (inner) => mark('italic', inner),
  del: (inner) => mark('strikethrough', inner),
  code: (words) => mark('code', cleanText(words)),
  codeBlock: (words, language) => mark('pre', cleanText(words), languageName(language)),
  link: toLink,
  heading: (inner, depth) => (depth <= 3 ? mark('heading', inner, String(depth)) : mark('bold', inner)),
  hasStrongHeadings: true,
  quote: (inner, depth) => (depth > 0 ? inner : mark('blockquote', inner)),
  bullet: mark('verbatim', '-'),
  ordinal: (number) => mark('verbatim', number),
  rule: '⎯⎯⎯',
};

/** Longer ones, as they are written, are words: half a message is left for what is shown in their place. */
const longest = 900;

/** What has no page is written out. */
function toLink(inner: string, address: string, isBare: boolean): string {
  const url = URL.parse(address.trim());
  const href = cleanText(isBare ? address : (url?.href ?? ''));
  const isPage = url !== null && /^https?:$/.test(url.protocol) && cleanAddress(href).length <= longest;
  if (isPage && isBare) return mark('text_link', readMarks(inner).entities.length > 0 ? href : inner, href); // bars in it hide nothing
  if (isPage) return mark('text_link', inner, href);
  const words = cleanText(address.replace(/^mailto:/i, ''));
  return isBare || readMarks(inner).text === words ? inner : `${inner} (${words})`;
}
