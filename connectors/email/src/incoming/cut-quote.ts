import { headLength, isFields, isOriginal, isRule } from './quote-heads.ts';

/** The text of a mail. `kept`: what its sender wrote. `quoted` and `signature`: what was cut, as it stood there. */
export type CutMail = { kept: string; quoted: string; signature: string };

/** Cuts what is quoted and the signature. What a mail has between its quotes stays: there its sender answers line by line. */
export function cutQuote(text: string): CutMail {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const start = quoteStart(lines);
  const own = lines.slice(0, start);
  const quoted = lines.slice(start);
  const dashes = own.findIndex((line) => /^-- ?$/.test(line));
  const cut = dashes === -1 ? own.length : dashes;
  return { kept: join(own.slice(0, cut)), quoted: join(quoted), signature: join(own.slice(cut + 1)) };
}

/** Where nothing but a quote is left, to the end. */
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

/** The first line from there on that is not empty. */
function nextOf(lines: readonly string[], from: number): string {
  let at = from;
  while (lines[at]?.trim() === '') at++;
  return lines[at] ?? '';
}

const isQuote = (line: string): boolean => line.startsWith('>');
/**
 * For each line, and for the end: whether from there on there is a quote, and nothing else but empty lines, up to a signature or
 * the end. Where one of those is at once, that is so as well. Looked at from the end, once: a mail may be nothing but such lines.
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
