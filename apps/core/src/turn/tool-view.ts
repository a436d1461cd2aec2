/** What is shown and recorded of a tool's output: `maxChars` of it. The engine sees everything. */
export const showToolOutput = (output: string, maxChars: number): string =>
  output.length <= maxChars ? output : `${output.slice(0, maxChars)}… (${output.length - maxChars} more characters)`;

/** The input as it is while it is small, else its beginning as text. */
export function showToolInput(input: unknown, maxChars: number): unknown {
  const text = JSON.stringify(input) ?? 'null';
  return text.length <= maxChars ? input : showToolOutput(text, maxChars);
}
