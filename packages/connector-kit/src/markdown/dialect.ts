/** How one platform writes what Markdown says. All texts but those of `text`, `code` and `codeBlock` are written already. */
export type Dialect = {
  /** Words as they are: whatever means something on the platform has to be written out. */
  text(words: string): string;
  strong(inner: string): string;
  em(inner: string): string;
  del(inner: string): string;
  code(words: string): string;
  codeBlock(words: string, language: string): string;
  /** `isBare`: the text is the address itself. */
  link(inner: string, address: string, isBare: boolean): string;
  heading(inner: string, depth: number): string;
  /** True where headings are strong text: strong text in them is then not marked again. */
  hasStrongHeadings: boolean;
  /** `depth` counts the quotes around this one. */
  quote(inner: string, depth: number): string;
  bullet: string;
  /** The number of an entry, such as `3.`, where it is not written as it is. */
  ordinal?(number: string): string;
  rule: string;
};

const asIs = (text: string) => text;

/** Words alone, for mails, terminals and voices. */
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
