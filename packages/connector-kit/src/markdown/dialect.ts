/** How one platform writes Markdown. All arguments are already rendered, except those of `text`, `code` and `codeBlock`. */
export type Dialect = {
  /** Plain words: whatever has a meaning on the platform must be escaped. */
  text(words: string): string;
  strong(inner: string): string;
  em(inner: string): string;
  del(inner: string): string;
  code(words: string): string;
  codeBlock(words: string, language: string): string;
  /** `isBare`: the text is the address itself. */
  link(inner: string, address: string, isBare: boolean): string;
  heading(inner: string, depth: number): string;
  /** True where headings are rendered as strong text, so strong text within them is not marked again. */
  hasStrongHeadings: boolean;
  /** `depth`: the number of quotes around this one. */
  quote(inner: string, depth: number): string;
  bullet: string;
  /** The number of a list entry, such as `3.`, where it needs escaping. */
  ordinal?(number: string): string;
  rule: string;
};

const asIs = (text: string) => text;

/** Words without formatting, for mails, terminals and voices. */
export const plainText: Dialect = {
  text: asIs,
  strong: asIs,
  em: asIs,
  del: asIs,
  code: asIs,
  codeBlock: asIs,
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${address})`),
  heading: asIs,
  hasStrongHeadings: false,
  quote: (inner) => inner.replaceAll(/^/gm, '> '),
  bullet: '-',
  rule: '---',
};
