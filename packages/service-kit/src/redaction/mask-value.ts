import { createPace } from './pace.ts';
import { minimumSecretLength } from './secret-patterns.ts';

/** Deeper parts of a value are dropped: nothing that a person or a tool writes is nested as deeply. */
const maxDepth = 100;
const tooDeep = '…';

/** A text to mask, or the digits of a number. */
export type Asked = { text: string; isNumber: boolean };

/** Masking as a generator: it yields each text and expects the masked one. The caller decides how and in how many steps. */
export type Masking<T> = Generator<Asked, T, string>;

/** Runs it synchronously. */
export function atOnce<T>(masking: Masking<T>, mask: (asked: Asked) => string): T {
  let step = masking.next();
  while (step.done !== true) step = masking.next(mask(step.value));
  return step.value;
}

/** Runs it with pauses for the rest of the process. */
export async function inTurns<T>(masking: Masking<T>, mask: (asked: Asked) => string | Promise<string>): Promise<T> {
  const pace = createPace();
  let step = masking.next();
  while (step.done !== true) {
    const masked = mask(step.value);
    step = masking.next(typeof masked === 'string' ? masked : await masked);
    if (pace.isDue()) await pace.pause();
  }
  return step.value;
}

/** Copies a JSON value with every string, number and key masked. */
export const maskValue = (value: unknown, masks: { text(text: string): string; number(digits: string): string }): unknown =>
  atOnce(maskingOf(value), ({ text, isNumber }) => (isNumber ? maskDigits(text, masks.number) : masks.text(text)));

/** Most numbers are shorter than any known secret. */
const maskDigits = (digits: string, mask: (digits: string) => string): string =>
  digits.length < minimumSecretLength ? digits : mask(digits);

/** The same as a generator. */
export function* maskingOf(value: unknown, depth = 0): Masking<unknown> {
  if (typeof value === 'string') return yield { text: value, isNumber: false };
  if (typeof value === 'number' || typeof value === 'bigint') return yield* maskNumber(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth === maxDepth) return tooDeep;
  return yield* mapParts(value, (part) => maskingOf(part, depth + 1), askText);
}

function* askText(text: string): Masking<string> {
  return yield { text, isNumber: false };
}

/** A number whose digits are a secret becomes a mask; any other number stays a number. */
function* maskNumber(value: number | bigint): Masking<unknown> {
  const digits = String(value);
  const masked = yield { text: digits, isNumber: true };
  return masked === digits ? value : masked;
}

/** The same array or object with mapped values and, with `mapKey`, mapped keys. */
export function* mapParts(
  value: object,
  map: (part: unknown) => Masking<unknown>,
  mapKey?: (key: string) => Masking<string>,
): Masking<object> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(yield* map(item));
    return items;
  }
  const entries: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) {
    const name = mapKey === undefined ? key : yield* mapKey(key);
    entries.push([name, yield* map(part)]);
  }
  return Object.fromEntries(entries);
}
