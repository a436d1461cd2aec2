import { randomInt } from 'node:crypto';

/** Without the signs that are taken for one another: 0 and O, 1, I and L. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const length = 8;
const form = new RegExp(`^[${alphabet}]{${length}}$`);

/** Eight random characters, some 40 bits. */
export function makeCode(): string {
  let code = '';
  while (code.length < length) code += alphabet[randomInt(alphabet.length)];
  return code;
}

/** As people read it: `ABCD-EFGH`. */
export const showCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a person typed, whatever its case, dashes and spaces; null when it cannot be one. */
export function readCode(text: string): string | null {
  const code = text.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase();
  return form.test(code) ? code : null;
}
