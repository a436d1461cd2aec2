import type { Dialect } from './dialect.ts';

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
