/** The words of a command line: separated by blanks, or a JSON array of strings. Null when it is neither. */
export function parseCommand(line: string): string[] | null {
  if (!line.trim().startsWith('[')) return line.trim().split(/\s+/);
  try {
    const words: unknown = JSON.parse(line);
    const isCommand = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string' && word !== '');
    return isCommand ? (words as string[]) : null;
  } catch {
    return null; // told by the settings
  }
}
