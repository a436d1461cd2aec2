import { EscapeDecoder } from './escape-decoder.ts';

/**
 * The form in which texts are compared: without escapes, line ends and invisible characters. `settled`: what is left of it
 * if following text completes an escape that begins at its end.
 */
export function canonicalText(text: string): { whole: string; settled: string } {
  let whole = '';
  const decoder = new EscapeDecoder({ take: (unit) => void (whole += String.fromCharCode(foldUnit(unit))) });
  for (let at = 0; at < text.length; at++) decoder.push(text.charCodeAt(at), at, at + 1);
  const settled = whole;
  decoder.flush();
  return { whole, settled };
}

/** URL-encoded forms write a space as a plus sign, and editors as a non-breaking space. */
export const foldUnit = (unit: number): number => (unit === 43 || unit === 0xa0 ? 32 : unit);
