const maxNameChars = 80;

/** A name that is safe to show to an operator: on one line, without characters that are invisible or change the direction of text. */
export function toName(name: string | undefined): string | null {
  const plain = (name ?? '')
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  return plain === '' ? null : Array.from(plain).slice(0, maxNameChars).join('');
}
