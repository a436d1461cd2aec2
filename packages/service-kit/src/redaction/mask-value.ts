import { minimumSecretLength } from './secret-patterns.ts';

/** Deeper parts of a value are left out: nothing that a person or a tool writes goes as far. */
export const maxDepth = 100;
export const tooDeep = '…';

/** `number`: what is made of the digits of a number. */
type Masks = { text: (text: string) => string; number: (digits: string) => string };

/** A copy of a JSON value with every string, number and key in it masked. */
export function maskValue(value: unknown, masks: Masks, depth = 0): unknown {
  if (typeof value === 'string') return masks.text(value);
  if (typeof value === 'number' || typeof value === 'bigint') return maskNumber(value, masks.number);
  if (value === null || typeof value !== 'object') return value;
  if (depth === maxDepth) return tooDeep;
  return mapParts(value, (part) => maskValue(part, masks, depth + 1), masks.text);
}

/** The same array or object with other values and, where `mapKey` says so, other keys. */
export const mapParts = (value: object, map: (part: unknown) => unknown, mapKey = (key: string) => key): object =>
  Array.isArray(value)
    ? value.map((part) => map(part))
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [mapKey(key), map(part)]));

/** A secret that is a number is masked by its digits; every other number stays one. */
function maskNumber(value: number | bigint, mask: (digits: string) => string): unknown {
  const digits = String(value);
  const masked = digits.length < minimumSecretLength ? digits : mask(digits);
  return masked === digits ? value : masked;
}
