import { headLength, isFields, isOriginal, isRule } from './quote-heads.ts';

/** The text of a mail. `kept`: what its sender wrote. `quoted` and `signature`: what was cut, unchanged. */
export type CutMail = { kept: string; quoted: string; signature: string };

/** Removes quotes and the signature. Text between quotes stays, together with the quotes, because its sender answers line by line. */
export function cutQuote(text: string): CutMail {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const start = quoteStart(lines);
  const own = lines.slice(0, start);
  const quoted = lines.slice(start);
  const dashes = own.findIndex((line) => /^-- ?$/.test(line));
  const cut = dashes === -1 ? own.length : dashes;
  return { kept: join(own.slice(0, cut)), quoted: join(quoted), signature: join(own.slice(cut + 1)) };
}

/** The line from which only a quote follows, to the end. */
function quoteStart(lines: readonly string[]): number {
  const isQuoteOnly = quoteOnlyFrom(lines);
  for (let at = 0; at < lines.length; at++) {
    if (isFields(lines, at)) return withRule(lines, at);
    const length = headLength(lines, at);
    // A person may write such a line too; then no quote follows it.
    if (length > 0 && (isOriginal(lines[at] ?? '') || (isQuoteOnly[at + length] === true && isQuote(nextOf(lines, at + length)))))
      return at;
    if (isQuote(lines[at] ?? '') && isQuoteOnly[at + 1] === true) return at;
  }
  return lines.length;
}

function withRule(lines: readonly string[], at: number): number {
  const last = lines.slice(0, at).findLastIndex((line) => line.trim() !== '');
  return last !== -1 && isRule(lines[last] ?? '') ? last : at;
}

/** The first non-empty line from there on. */
function nextOf(lines: readonly string[], from: number): string {
  let at = from;
  while (lines[at]?.trim() === '') at++;
  return lines[at] ?? '';
}

const isQuote = (line: string): boolean => line.startsWith('>');
/**
 * For each line and for the end: whether only a quote and empty lines follow, up to a signature or the end. True also at the signature or
 * the end itself. Computed once from the end, because a mail may consist of many such lines.
 */
function quoteOnlyFrom(lines: readonly string[]): boolean[] {
  const found = Array.from({ length: lines.length + 1 }, () => true);
  let hasQuote = false;
  let hasElse = false;
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? '';
    if (/^-- ?$/.test(line)) {
      hasQuote = hasElse = false;
      continue;
    }
    if (isQuote(line)) hasQuote = true;
    else if (line.trim() !== '') hasElse = true;
    found[at] = hasQuote && !hasElse;
  }
  return found;
}
const join = (lines: readonly string[]): string => lines.join('\n').trim();
