import { isUtf8 } from 'node:buffer';
import type { Parsed } from './json/parse-steps.ts';
import { atOnce, inTurns, type Steps } from './redaction/pace.ts';
import { badRequest, type ServiceError } from './service-error.ts';

/** The escape of half a surrogate pair, the only way in which JSON can contain malformed text. Whole pairs match too. */
const halfOfPair = /\\u[dD][89a-fA-F]/;
/** Most JSON has no escape at all, which a plain search finds out in a tenth of the time. */
const mayHoldHalf = (json: string): boolean => json.includes('\\') && halfOfPair.test(json);

type Place = { value: unknown; key: string; parent: Place | null };

/**
 * Where in a JSON value a string or field name is malformed Unicode; null when all is well-formed. Databases store U+FFFD in
 * place of half a surrogate pair, so two keys that differ here would be the same there.
 */
export const illFormedAt = (value: unknown, where = 'body'): string | null => atOnce(illFormedSteps(value, where));

/** The same in steps. */
export function* illFormedSteps(value: unknown, where = 'body'): Steps<string | null> {
  const root: Place = { value, key: where, parent: null };
  if (!isWellFormedText(value)) return pathOf(root);
  const places = [root];
  let looked = 0;
  for (let parent = places.pop(); parent !== undefined; parent = places.pop()) {
    for (const [key, inner] of fieldsOf(parent.value)) {
      if (!isWellFormedText(inner) || !isWellFormedText(key)) return pathOf({ value: inner, key: String(key), parent });
      if (typeof inner === 'object' && inner !== null) places.push({ value: inner, key: String(key), parent });
      if (++looked % valuesAtOnce === 0) yield;
    }
  }
  return null;
}

/** How many values are checked in one step. */
const valuesAtOnce = 1024;

const isWellFormedText = (value: unknown): boolean => typeof value !== 'string' || value.isWellFormed();

function fieldsOf(value: unknown): Iterable<[string | number, unknown]> {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

/** `illFormedAt` for a value that was parsed from `json`. Usually it only searches `json` once. */
export const illFormedIn = (json: string, value: unknown, where = 'body'): string | null =>
  mayHoldHalf(json) ? illFormedAt(value, where) : null;

const problem = 'has broken characters (half of a surrogate pair)';

/** The error for a value that was parsed from `json`; null when all its text is well-formed. */
export function illFormedFault(json: string, value: unknown, where = 'body'): ServiceError | null {
  const field = illFormedIn(json, value, where);
  return field === null ? null : illFormed(field);
}

const illFormed = (field: string): ServiceError =>
  badRequest(`The request is not valid: ${field} ${problem}.`, { fields: [{ field, problem }] });

/**
 * The same in steps, for long input. It walks the value only when its text may be malformed.
 * @throws ServiceError `bad_request`.
 */
export async function refuseIllFormed({ value, mayBeIllFormed }: Parsed): Promise<void> {
  if (!mayBeIllFormed) return;
  const field = await inTurns(illFormedSteps(value, 'body'));
  if (field !== null) throw illFormed(field);
}

/** `JSON.parse` for untrusted input. @throws SyntaxError, or ServiceError `bad_request` that names the malformed field */
export function parseJson(json: string, where?: string): unknown {
  const value: unknown = JSON.parse(json);
  const fault = illFormedFault(json, value, where);
  if (fault !== null) throw fault;
  return value;
}

/** Decodes bytes. @throws ServiceError `bad_request`: decoding would replace different invalid bytes by the same character. */
export function decodeUtf8(bytes: Buffer): string {
  refuseOtherBytes(bytes);
  return bytes.toString('utf8');
}

export function refuseOtherBytes(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
}

/** False when JSON may contain half of a surrogate pair. */
export const isWellFormedJson = (json: string): boolean => !mayHoldHalf(json);

/** A JSON value with well-formed text only: itself, or a repaired copy. For values that must be passed on, not refused. */
export function wellFormed<T>(value: T): T {
  const json = JSON.stringify(value);
  return mayHoldHalf(json) ? (repaired(JSON.parse(json)) as T) : value;
}

/** Halves of pairs become U+FFFD, as the database would store them. */
function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repaired);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), repaired(inner)]));
}

const maxPath = 200;

function pathOf(place: Place): string {
  const keys: string[] = [];
  let length = 0;
  for (let at: Place | null = place; at !== null && length < maxPath; at = at.parent) {
    keys.unshift(at.key.toWellFormed().slice(0, 64));
    length += at.key.length + 1;
  }
  return keys.join('.');
}
