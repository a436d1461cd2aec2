import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@svc/contract/json-value.ts';
import { refuse } from './completion-error.ts';

/** Returns what is wrong with a value, and where; null for a valid one. */
export type SchemaCheck = (value: unknown) => string | null;

type Schema = Record<string, unknown>;
/** Checks one keyword: returns what is wrong with a value, or null. Counts further steps of the walk where one is not enough. */
type Keyword = (given: unknown, value: unknown, at: string, walk: Walk) => string | null;
type Walk = {
  root: Schema;
  left: number;
  depth: number;
  enums: Map<readonly unknown[], Set<unknown>>;
  check: (schema: unknown, value: unknown, at: string) => string | null;
};

/** Maximum number of steps of one check: a schema may refer to itself, and one answer must not block others. */
const maxSteps = 200_000;
const maxDepth = 200;
/** Characters that are counted in about the time of one step. */
const charsOfStep = 100;

/**
 * Compiles a caller's schema, for the keywords of structured outputs. Small and our own, because the schema is untrusted: it generates no
 * code and no regular expressions, and every check is limited.
 * @throws ServiceError for a keyword that the check would ignore
 */
export function compileSchema(schema: Schema, param: string): SchemaCheck {
  checkKeywords(schema, schema, param, 0);
  return (value) => {
    const walk: Walk = {
      root: schema,
      left: maxSteps,
      depth: 0,
      enums: new Map(),
      check: (part, item, at) => checkPart(part, item, at, walk),
    };
    return walk.check(schema, value, 'it');
  };
}

function checkPart(schema: unknown, value: unknown, at: string, walk: Walk): string | null {
  if (--walk.left < 0 || walk.depth > maxDepth) return 'it is too large or too deeply nested to be checked';
  walk.depth++;
  const fault = checkValue(schema, value, at, walk);
  walk.depth--;
  return fault;
}

function checkValue(schema: unknown, value: unknown, at: string, walk: Walk): string | null {
  if (schema === false) return `${at} is not allowed`;
  if (!isRecord(schema)) return null;
  for (const name in schema) {
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    const fault = keyword === undefined ? null : keyword(schema[name], value, at, walk);
    if (fault !== null) return fault;
  }
  return objectFault(schema, value, at, walk);
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
};
const isOfType = (value: unknown, type: unknown) => (type === 'integer' ? Number.isInteger(value) : typeOf(value) === type);

const number =
  (test: (value: number, limit: number) => boolean, words: string): Keyword =>
  (limit, value, at) =>
    typeof value !== 'number' || typeof limit !== 'number' || test(value, limit) ? null : `${at} must be ${words} ${limit}`;
const sized =
  (test: (size: number, limit: number) => boolean, kind: 'string' | 'array', words: string): Keyword =>
  (limit, value, at, walk) => {
    if (typeOf(value) !== kind || typeof limit !== 'number') return null;
    // Characters are counted one by one.
    if (kind === 'string') walk.left -= Math.ceil((value as string).length / charsOfStep);
    const size = kind === 'string' ? Array.from(value as string).length : (value as unknown[]).length;
    return test(size, limit) ? null : `${at} must have ${words} ${limit} ${kind === 'string' ? 'characters' : 'items'}`;
  };

const keywords: Readonly<Record<string, Keyword>> = {
  type: (types, value, at) =>
    (Array.isArray(types) ? types : [types]).some((type) => isOfType(value, type))
      ? null
      : `${at} is not of type ${String(types)}`,
  enum: (list, value, at, walk) =>
    Array.isArray(list) && isAmong(list, value, walk) ? null : `${at} is not one of the allowed values`,
  const: (only, value, at) => (isDeepStrictEqual(only, value) ? null : `${at} is not the required constant`),
  anyOf: (list, value, at, walk) =>
    Array.isArray(list) && list.some((each) => walk.check(each, value, at) === null)
      ? null
      : `${at} matches none of the alternatives in "anyOf"`,
  allOf: (list, value, at, walk) => firstFault(Array.isArray(list) ? list : [], (each) => walk.check(each, value, at)),
  $ref: (ref, value, at, walk) => walk.check(resolve(ref, walk.root), value, at),
  items: (schema, value, at, walk) =>
    Array.isArray(value) ? firstFault(value, (item, index) => walk.check(schema, item, `${at}[${index}]`)) : null,
  required: (names, value, at) => {
    const missing =
      isRecord(value) && Array.isArray(names) ? names.find((name) => !Object.hasOwn(value, String(name))) : undefined;
    return missing === undefined ? null : `${at} lacks the required property "${String(missing)}"`;
  },
  minLength: sized((size, limit) => size >= limit, 'string', 'at least'),
  maxLength: sized((size, limit) => size <= limit, 'string', 'at most'),
  minItems: sized((size, limit) => size >= limit, 'array', 'at least'),
  maxItems: sized((size, limit) => size <= limit, 'array', 'at most'),
  minimum: number((value, limit) => value >= limit, 'at least'),
  maximum: number((value, limit) => value <= limit, 'at most'),
  exclusiveMinimum: number((value, limit) => value > limit, 'more than'),
  exclusiveMaximum: number((value, limit) => value < limit, 'less than'),
};

/** Values that are neither objects nor lists are looked up: an answer may have very many, and a schema, too. */
function isAmong(list: readonly unknown[], value: unknown, walk: Walk): boolean {
  if (typeof value !== 'object' || value === null) {
    const known = walk.enums.get(list) ?? new Set(list);
    walk.enums.set(list, known);
    return known.has(value);
  }
  walk.left -= list.length;
  return list.some((each) => isDeepStrictEqual(each, value));
}

/** `properties` and `additionalProperties` must be checked together. */
function objectFault(schema: Schema, value: unknown, at: string, walk: Walk): string | null {
  if (!isRecord(value)) return null;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  return firstFault(Object.keys(value), (name) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
    return walk.check(part, value[name], `${at}.${name.slice(0, 64)}`);
  });
}

function firstFault<Item>(items: readonly Item[], check: (item: Item, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const fault = check(item, index);
    if (fault !== null) return fault;
  }
  return null;
}

/** Keywords that only describe; `format` is passed to the assistant, but not checked. */
const descriptions = ['title', 'description', 'default', 'examples', '$schema', '$id', '$comment', 'format'];
/** Keywords with a map of schemas, with a list of schemas, or with a single schema. */
const named = ['properties', '$defs', 'definitions'];
const single = ['items', 'additionalProperties'];
const listed = ['anyOf', 'allOf'];

/** Refuses keywords that the check would ignore, and names their position. */
function checkKeywords(schema: unknown, root: Schema, at: string, depth: number): void {
  if (depth > maxDepth) throw refuse(at, 'The schema is nested too deeply.', 'invalid_value');
  if (typeof schema === 'boolean') return;
  if (!isRecord(schema)) throw refuse(at, `'${at}' must be a JSON Schema.`, 'invalid_type');
  for (const [name, given] of Object.entries(schema)) {
    const place = `${at}.${name.slice(0, 64)}`;
    const below = (part: unknown) => checkKeywords(part, root, place, depth + 1);
    if (named.includes(name) && isRecord(given)) Object.values(given).forEach(below);
    else if (single.includes(name)) below(given);
    else if (listed.includes(name) && Array.isArray(given)) given.forEach(below);
    else if (name === '$ref') resolvable(given, root, place);
    else if (!Object.hasOwn(keywords, name) && !descriptions.includes(name))
      throw refuse(place, `The JSON Schema keyword "${name.slice(0, 64)}" is not supported.`, 'unsupported_parameter');
  }
}

function resolvable(ref: unknown, root: Schema, at: string): void {
  if (resolve(ref, root) === undefined)
    throw refuse(
      at,
      `'${at}' cannot be resolved. Use '#' or '#/$defs/NAME' to refer to a part of the schema itself.`,
      'invalid_value',
    );
}

/** The referenced schema; undefined when there is none. Only definitions can be referenced: no other part is certain to be a schema. */
function resolve(ref: unknown, root: Schema): unknown {
  if (ref === '#') return root;
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(ref)) ?? [];
  const parts = root[place];
  const own = name.replaceAll('~1', '/').replaceAll('~0', '~');
  return isRecord(parts) && Object.hasOwn(parts, own) ? parts[own] : undefined;
}
