import { parseJsonOrNull } from '@svc/contract/json-value.ts';

/** Names whose values are taken for secrets wherever they come from. */
export const secretName = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?)$/i;

/** A value that is JSON itself is found whole only where its fields stand in the same order: those that are secret count by themselves. */
export function secretParts(value: string): string[] {
  const parsed = parseObject(value);
  return parsed === null ? [] : namedTexts(parsed);
}

/** The same JSON as others write it, with spaces; how it is broken into lines makes no difference. */
export function jsonForms(value: string): string[] {
  const parsed = parseObject(value);
  if (parsed === null) return [];
  const oneSpace = JSON.stringify(parsed, null, 1); // which may be a value's own, where a longer indentation is not
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
