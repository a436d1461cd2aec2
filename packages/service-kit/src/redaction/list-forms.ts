import type { EncodedForm } from './encoded-forms.ts';

/** How many bytes are searched for; the rest is masked with them. */
const headBytes = 12;

/**
 * The bytes or characters of a value as lists, as buffers, certificates and hex viewers print them: `[115, 107]`, `73:6b`,
 * `<73 6b>`, `0x73, 0x6b`, `736b 2d6c`.
 */
export function listForms(value: string): EncodedForm[] {
  const bytes = [...Buffer.from(value.trim(), 'utf8')];
  const codes = Array.from(value.trim(), (char) => char.codePointAt(0)!);
  const lower = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
  const upper = lower.map((digits) => digits.toUpperCase());
  const lists = [
    ...[',', ', ', ' '].flatMap((separator) => [bytes, codes].map((numbers) => headOf(numbers.map(String), separator))),
    ...[lower, upper].flatMap((digits) => [
      ...[' ', ':', '-'].map((separator) => headOf(digits, separator)),
      ...[',', ', ', ' '].map((separator) => headOf(prefixed(digits), separator)),
      headOf(paired(digits, 0), ' ', headBytes / 2),
      headOf(paired(digits, 1), ' ', headBytes / 2),
    ]),
  ];
  return [...new Map(lists.map((list) => [list.text, list])).values()];
}

function headOf(items: readonly string[], separator: string, count = headBytes): EncodedForm {
  const text = items.slice(0, count).join(separator);
  return { text, more: items.join(separator).length - text.length };
}

const prefixed = (digits: readonly string[]): string[] => digits.map((each) => `0x${each}`);

/** Two bytes per word; `first`: how many bytes are in the word before the first whole one. */
function paired(digits: readonly string[], first: number): string[] {
  const words = digits.slice(0, first);
  for (let at = first; at < digits.length; at += 2) words.push(digits.slice(at, at + 2).join(''));
  return words;
}
