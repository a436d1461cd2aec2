/** A file that begins with this line stands in place of the built-in persona. */
const replacingLine = '<!-- replace -->';

/** The operator's words as a form has them: whether they stand in place of the built-in persona, and what they are. */
export type OwnWords = { replaces: boolean; own: string };

export function toWords(file: string): OwnWords {
  const text = file.trim();
  return text.startsWith(replacingLine)
    ? { replaces: true, own: text.slice(replacingLine.length).trim() }
    : { replaces: false, own: text };
}

export const toFile = ({ replaces, own }: OwnWords): string => (replaces && own !== '' ? `${replacingLine}\n${own}` : own);
