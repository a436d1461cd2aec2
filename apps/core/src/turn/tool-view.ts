/** Longest tool input or output that is shown or recorded, in characters. The engine sees everything. */
const maxChars = 16_000;

export const showToolOutput = (output: string): string =>
  output.length <= maxChars ? output : `${output.slice(0, maxChars)}… (${output.length - maxChars} more characters)`;

/** The input as it is while it is small, else its beginning as text. */
export function showToolInput(input: unknown): unknown {
  const text = JSON.stringify(input) ?? 'null';
  return text.length <= maxChars ? input : showToolOutput(text);
}
