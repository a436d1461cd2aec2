import { parseJsonOrNull } from '@svc/contract/json-value.ts';

/** Names whose values are treated as secrets, wherever they come from. */
export const secretName = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;

/** A value that is JSON is found as a whole only with its fields in the same order, so its secret fields are masked separately too. */
export function secretParts(value: string): string[] {
  const parsed = parseObject(value);
  return parsed === null ? [] : namedTexts(parsed);
}

/** The same JSON as other serializers write it, with spaces; line breaks make no difference. */
export function jsonForms(value: string): string[] {
  const parsed = parseObject(value);
  if (parsed === null) return [];
  const oneSpace = JSON.stringify(parsed, null, 1); // one space may belong to a value, a longer indentation does not
  const inOneLine = oneSpace.replaceAll(/,\n\s*/g, ', ').replaceAll(/\n\s*/g, '');
  return [JSON.stringify(parsed), oneSpace, JSON.stringify(parsed, null, 2), inOneLine];
}

function namedTexts(value: object): string[] {
  return Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    if (typeof part === 'string') return secretName.test(name) ? [part] : [];
    return typeof part === 'object' && part !== null ? namedTexts(part) : [];
  });
}

/** Null for what only begins like JSON. */
const parseObject = (value: string): object | null => (/^\s*[{[]/.test(value) ? (parseJsonOrNull(value) as object | null) : null);
