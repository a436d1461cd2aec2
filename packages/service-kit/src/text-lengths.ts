import { createRequire } from 'node:module';
import type * as ajvModule from 'ajv';

const require = createRequire(import.meta.url);

/** The second half of a surrogate pair adds nothing to the length. */
const isSecondHalf = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** More than `max` characters. It counts only when the number of units does not decide it: they are one or two per character. */
function isTooLong(text: string, max: number): boolean {
  if (text.length <= max || text.length > 2 * max) return text.length > max;
  return text.length - pairsIn(text) > max;
}

/** Fewer than `min` characters. */
function isTooShort(text: string, min: number): boolean {
  if (text.length < min || text.length >= 2 * min) return text.length < min;
  return text.length - pairsIn(text) < min;
}

function pairsIn(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at++) {
    if (isSecondHalf(text.charCodeAt(at)) && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++;
  }
  return pairs;
}

const keywords = [
  { keyword: 'maxLength', fails: isTooLong, than: 'more' },
  { keyword: 'minLength', fails: isTooShort, than: 'fewer' },
] as const;

/** Ajv counts the characters of every text to its end. With this it counts only where the number of units does not decide it. */
export function boundLengths<T extends ajvModule.Ajv>(ajv: T): T {
  const { _, str } = require('ajv') as typeof ajvModule;
  for (const { keyword, fails, than } of keywords) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      before: 'pattern',
      error: {
        message: ({ schemaCode }) => str`must NOT have ${than} than ${schemaCode} characters`,
        params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
      },
      code(cxt) {
        const fn = cxt.gen.scopeValue('func', { ref: fails });
        cxt.fail(_`${fn}(${cxt.data}, ${cxt.schemaCode})`);
      },
    });
  }
  return ajv;
}
