import { cleanText, languageName, mark, readMarks, withSpoilers, type Dialect } from '@svc/connector-kit/markdown';
import { cleanAddress } from './write-discord.ts';

/** Discord's notation for people, roles, channels, emojis, times and commands. */
const sign = /<(?:@[!&]?\d{15,21}|#\d{15,21}|a?:\w{2,32}:\d{15,21}|t:-?\d{1,13}(?::[tTdDfFR])?|\/[\w -]{1,100}:\d{15,21})>/g;

/** Marks what Discord formats in its own way. */
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

/** Longer addresses become plain text, so that half a message is left for the link's text. */
const longest = 900;

/** A link to something other than a page is written as text. */
function toLink(inner: string, address: string, isBare: boolean): string {
  const url = URL.parse(address.trim());
  const href = cleanText(isBare ? address : (url?.href ?? ''));
  const isPage = url !== null && /^https?:$/.test(url.protocol) && cleanAddress(href).length <= longest;
  // `||` within an address is no spoiler.
  if (isPage && isBare) return mark('text_link', readMarks(inner).entities.length > 0 ? href : inner, href);
  if (isPage) return mark('text_link', inner, href);
  const words = cleanText(address.replace(/^mailto:/i, ''));
  return isBare || readMarks(inner).text === words ? inner : `${inner} (${words})`;
}
