import { EscapeDecoder } from './escape-decoder.ts';

/**
 * A text as it is compared: without escapes, line ends and invisible characters. `settled`: what remains of it when the
 * text after it completes an escape that its end begins.
 */
export function canonicalText(text: string): { whole: string; settled: string } {
  let whole = '';
  const decoder = new EscapeDecoder({ take: (unit) => void (whole += String.fromCharCode(foldUnit(unit))) });
  for (let at = 0; at < text.length; at++) decoder.push(text.charCodeAt(at), at, at + 1);
  const settled = whole;
  decoder.flush();
  return { whole, settled };
}

/** Forms write a space as a plus sign, and editors as one that does not break. */
export const foldUnit = (unit: number): number => (unit === 43 || unit === 0xa0 ? 32 : unit);
