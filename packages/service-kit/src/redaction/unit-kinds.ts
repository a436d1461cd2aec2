export const isUpper = (unit: number): boolean => unit >= 65 && unit <= 90;
export const isLower = (unit: number): boolean => unit >= 97 && unit <= 122;
export const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

/** `=`, `:`, `>`, `|` and `,`: what may separate a name from its value. */
export const isOperator = (unit: number): boolean => unit === 61 || unit === 58 || unit === 62 || unit === 124 || unit === 44;

/** A word character before a keyword means that it is part of another word. */
export const isWordUnit = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95;

/** What may come between a name and its operator: the rest of the name, spaces, quotes. */
export const isNameUnit = (unit: number): boolean => isWordUnit(unit) || nameSigns.includes(String.fromCharCode(unit));
const nameSigns = ' \t\r\n.-?"\'`\\';

export const isNumberUnit = (unit: number): boolean =>
  (unit >= 48 && unit <= 57) || numberSigns.includes(String.fromCharCode(unit));
/** Non-breaking spaces and hyphens and the dash included. */
const numberSigns = ' +-./()\u00A0\u2007\u2009\u202F\u2010\u2011\u2013';

/** White space of any script, as `\s` has it. */
export function isWhiteSpace(unit: number): boolean {
  if (unit < 128) return unit === 32 || (unit >= 9 && unit <= 13);
  if (unit < 0x2000) return unit === 0xa0 || unit === 0x1680;
  return (
    unit <= 0x200a ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}
