import { isUtf8 } from 'node:buffer';
import type { Parsed } from './json/parse-steps.ts';
import { atOnce, inTurns, type Steps } from './redaction/pace.ts';
import { badRequest, type ServiceError } from './service-error.ts';

/** The escape of half a surrogate pair: the only way in which JSON can hold text that is not well-formed. Whole pairs match too. */
const halfOfPair = /\\u[dD][89a-fA-F]/;
/** Most JSON has no escape at all, which a search finds out in a tenth of the time. */
const mayHoldHalf = (json: string): boolean => json.includes('\\') && halfOfPair.test(json);

type Place = { value: unknown; key: string; parent: Place | null };

/**
 * Where in a value from JSON a string, or the name of a field, is not well-formed Unicode; null when all of it is. Databases
 * store U+FFFD in place of half a surrogate pair, so two keys that differ here would be one key there.
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

/** How many values are looked at in one step. */
const valuesAtOnce = 1024;

const isWellFormedText = (value: unknown): boolean => typeof value !== 'string' || value.isWellFormed();

function fieldsOf(value: unknown): Iterable<[string | number, unknown]> {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

/** The place of `illFormedAt` in what was parsed from `json`. Costs one look at `json` where nothing is suspicious. */
export const illFormedIn = (json: string, value: unknown, where = 'body'): string | null =>
  mayHoldHalf(json) ? illFormedAt(value, where) : null;

const problem = 'has broken characters (half of a surrogate pair)';

/** What is wrong with a value that was parsed from `json`; null when all its text is well-formed. */
export function illFormedFault(json: string, value: unknown, where = 'body'): ServiceError | null {
  const field = illFormedIn(json, value, where);
  return field === null ? null : illFormed(field);
}

const illFormed = (field: string): ServiceError =>
  badRequest(`The request is not valid: ${field} ${problem}.`, { fields: [{ field, problem }] });

/**
 * The same for what others sent and is long, in steps. Nothing is looked for in it that its text does not hold.
 * @throws ServiceError `bad_request`.
 */
export async function refuseIllFormed({ value, mayBeIllFormed }: Parsed): Promise<void> {
  if (!mayBeIllFormed) return;
  const field = await inTurns(illFormedSteps(value, 'body'));
  if (field !== null) throw illFormed(field);
}

/** `JSON.parse` for what others sent. @throws SyntaxError, or ServiceError `bad_request` that names what is not well-formed. */
export function parseJson(json: string, where?: string): unknown {
  const value: unknown = JSON.parse(json);
  const fault = illFormedFault(json, value, where);
  if (fault !== null) throw fault;
  return value;
}

/** Bytes as text. @throws ServiceError `bad_request`: decoding would put the same character in place of different wrong bytes. */
export function decodeUtf8(bytes: Buffer): string {
  refuseOtherBytes(bytes);
  return bytes.toString('utf8');
}

export function refuseOtherBytes(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.');
}

/** False where JSON may hold half of a pair. */
export const isWellFormedJson = (json: string): boolean => !mayHoldHalf(json);

/** A JSON value with well-formed text only: itself, or a repaired copy. For what is passed on and must not be refused. */
export function wellFormed<T>(value: T): T {
  const json = JSON.stringify(value);
  return mayHoldHalf(json) ? (repaired(JSON.parse(json)) as T) : value;
}

/** Half pairs become U+FFFD, as the database would store them. */
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
