/** A file that begins with this line replaces the built-in persona. */
const replacingLine = '<!-- replace -->';

/** The operator's text as a form has it, and whether it replaces the built-in persona. */
export type OwnWords = { replaces: boolean; own: string };

export function toWords(file: string): OwnWords {
  const text = file.trim();
  return text.startsWith(replacingLine)
    ? { replaces: true, own: text.slice(replacingLine.length).trim() }
    : { replaces: false, own: text };
}

export const toFile = ({ replaces, own }: OwnWords): string => (replaces && own !== '' ? `${replacingLine}\n${own}` : own);
