const maxNameChars = 80;

/** A name as an operator may be shown it: on one line, without signs that are not seen or turn the text around. */
export function toName(name: string | undefined): string | null {
  const plain = (name ?? '')
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  return plain === '' ? null : Array.from(plain).slice(0, maxNameChars).join('');
}
