import type { Dialect } from './dialect.ts';

/** Escapes what Discord would interpret, anywhere and at the beginning of a line. */
const escape = (text: string): string =>
  text
    .replaceAll(/[\\*_~`|]/g, String.raw`\$&`)
    .replaceAll(/^([^\S\n]*)(#{1,3}|-#|>|[-+])(?=\s|>)/gm, String.raw`$1\$2`)
    .replaceAll(/^([^\S\n]*\d+)\./gm, String.raw`$1\.`);

/** A fence that is longer than any in the text. */
function frame(words: string, shortest: number): string {
  const longest = Math.max(0, ...[...words.matchAll(/`+/g)].map(([marks]) => marks.length));
  return '`'.repeat(Math.max(shortest, longest + 1));
}

/** Discord's Markdown: no tables, images or rules, and headings of three sizes. */
export const discordMarkdown: Dialect = {
  text: escape,
  strong: (inner) => `**${inner}**`,
  em: (inner) => `*${inner}*`,
  del: (inner) => `~~${inner}~~`,
  code: (words) => {
    const marks = frame(words, 1);
    return marks.length === 1 ? `\`${words}\`` : `${marks} ${words} ${marks}`;
  },
  codeBlock: (words, language) => {
    const marks = frame(words, 3);
    return `${marks}${language}\n${words}\n${marks}`;
  },
  link: (inner, address, isBare) => (isBare ? address : `[${inner}](${address.replaceAll(')', '%29')})`),
  heading: (inner, depth) => (depth <= 3 ? `${'#'.repeat(depth)} ${inner}` : `**${inner}**`),
  hasStrongHeadings: true,
  quote: (inner) => inner.replaceAll(/^/gm, '> '),
  bullet: '-',
  rule: '⎯⎯⎯',
};
