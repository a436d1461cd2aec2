import { randomInt } from 'node:crypto';
import { codeSigns } from '@svc/contract/invitation.ts';

const pairingLength = 8;
const form = new RegExp(`^[${codeSigns}]{${pairingLength}}$`);

/** Random characters, some 5 bits each. */
export function makeCode(length = pairingLength): string {
  let code = '';
  while (code.length < length) code += codeSigns[randomInt(codeSigns.length)];
  return code;
}

/** As people read it, in groups of four: `ABCD-EFGH`. */
export const showCode = (code: string): string => code.match(/.{1,4}/g)?.join('-') ?? '';

/** The code that a person typed, whatever its case, dashes and spaces; null when it cannot be one. */
export function readCode(text: string): string | null {
  const code = text.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase();
  return form.test(code) ? code : null;
}
