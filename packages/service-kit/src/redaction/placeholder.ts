import { badRequest } from '../service-error.ts';

const kinds = [
  'secret', // a value that this installation knows
  'private-key',
  'token',
  'password',
  'cookie',
  'credential',
  'email',
  'phone',
  'card',
  'ip',
  'host',
  'path',
  'link',
  'data',
] as const;

/** The kind of a masked text. A placeholder contains nothing of the text itself. */
export type RedactedKind = (typeof kinds)[number];

export const toPlaceholder = (kind: RedactedKind): string => `[redacted:${kind}]`;

/** The placeholder of a known value. */
export const placeholder = toPlaceholder('secret');

/** True for a text that is part of some placeholder. */
export const isPartOfPlaceholder = (text: string): boolean => kinds.some((kind) => toPlaceholder(kind).includes(text));

const anyPlaceholder = /\[redacted:[a-z-]{1,20}\]/;
const maxDepth = 100;

/** True when any string in a JSON value, keys included, contains a placeholder. */
export const holdsPlaceholder = (value: unknown, depth = 0): boolean => {
  if (typeof value === 'string') return anyPlaceholder.test(value);
  if (value === null || typeof value !== 'object' || depth === maxDepth) return false;
  return Object.entries(value).some(([key, item]) => anyPlaceholder.test(key) || holdsPlaceholder(item, depth + 1));
};

/**
 * For every route that stores a value: a caller who was shown a placeholder must not overwrite the masked value with it.
 * @throws ServiceError `bad_request` naming the field.
 */
export function refusePlaceholder(value: unknown, field: string): void {
  if (!holdsPlaceholder(value)) return;
  throw badRequest(`${field} contains the placeholder of a masked value instead of the value itself. Nothing was changed.`);
}
