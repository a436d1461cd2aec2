import type { Dialect } from './dialect.ts';

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const escapeValue = (text: string): string => escape(text).replaceAll('"', '&quot;');

/** The HTML of Telegram's Bot API (`parse_mode: HTML`). It has no headings, lists, tables or quotes within quotes. */
export const telegramHtml: Dialect = {
  text: escape,
  strong: (inner) => `<b>${inner}</b>`,
  em: (inner) => `<i>${inner}</i>`,
  del: (inner) => `<s>${inner}</s>`,
  code: (words) => `<code>${escape(words)}</code>`,
  codeBlock: (words, language) =>
    language === ''
      ? `<pre>${escape(words)}</pre>`
      : `<pre><code class="language-${escapeValue(language)}">${escape(words)}</code></pre>`,
  link: (inner, address, isBare) => (isBare ? inner : `<a href="${escapeValue(address)}">${inner}</a>`),
  heading: (inner) => `<b>${inner}</b>`,
  hasStrongHeadings: true,
  quote: (inner, depth) => (depth === 0 ? `<blockquote>${inner}</blockquote>` : inner),
  bullet: '•',
  rule: '———',
};
