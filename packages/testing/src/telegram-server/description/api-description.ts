import { readFileSync } from 'node:fs';
import path from 'node:path';

type Field = { name: string; types: string[]; required: boolean; description: string };
type Described = { fields?: Field[]; subtypes?: string[] };
type Description = { methods: Record<string, Described & { returns: string[] }>; types: Record<string, Described> };

/**
 * Checks calls and answers against the published description of the Bot API. `telegram-bot-api.json` is `api.json` of
 * github.com/PaulSonOfLars/telegram-bot-api-spec (Bot API 10.1), under the MIT licence beside it; a newer one is put in its place as it is.
 */
export type ApiDescription = {
  /** A method by its name, whatever its case; undefined when there is none. */
  methodNamed(name: string): string | undefined;
  /** Types that a parameter may have; empty for one that the method does not know. */
  typesOf(method: string, parameter: string): readonly string[];
  /** Errors in a call. */
  callFaults(method: string, params: Record<string, unknown>): string[];
  /** Errors in an answer. */
  answerFaults(method: string, result: unknown): string[];
  /** Emoji that may be reactions. */
  reactions: ReadonlySet<string>;
};

let read: ApiDescription | undefined;

export const readApiDescription = (): ApiDescription => (read ??= describe());

function describe(): ApiDescription {
  const text = readFileSync(path.join(import.meta.dirname, 'telegram-bot-api.json'), 'utf8');
  const { methods, types } = JSON.parse(text) as Description;
  const names = new Map(Object.keys(methods).map((name) => [name.toLowerCase(), name]));
  const check = createTypeCheck(types);
  return {
    methodNamed: (name) => names.get(name.toLowerCase()),
    typesOf: (method, parameter) => methods[method]?.fields?.find(({ name }) => name === parameter)?.types ?? [],
    callFaults: (method, params) => check.fields(params, methods[method]?.fields ?? []),
    answerFaults: (method, result) => check.oneOf(result, methods[method]?.returns ?? [], 'result'),
    reactions: new Set(
      [...(types['ReactionTypeEmoji']?.fields?.[1]?.description ?? '').matchAll(/"([^"]+)"/g)].map(([, emoji = '']) => emoji),
    ),
  };
}

function createTypeCheck(types: Description['types']) {
  function fields(value: Record<string, unknown>, known: readonly Field[], at = ''): string[] {
    const missing = known.filter(({ name, required }) => required && value[name] === undefined);
    const wrong = Object.entries(value).flatMap(([name, one]) => {
      if (one === undefined) return [];
      const field = known.find((candidate) => candidate.name === name);
      return field === undefined ? [`unknown: ${at}${name}`] : fieldFaults(one, field, `${at}${name}`);
    });
    return [...missing.map(({ name }) => `missing: ${at}${name}`), ...wrong];
  }

  function fieldFaults(value: unknown, { types: possible, description }: Field, at: string): string[] {
    const [, only] = /(?:always|must be) [“"]?(\w+)[”"]?\.?$/.exec(description) ?? [];
    if (only !== undefined && typeof value === 'string' && value !== only) return [`not ${only}: ${at}`];
    return oneOf(value, possible, at);
  }

  /** No errors when one of the types matches; otherwise those of the best match. */
  function oneOf(value: unknown, possible: readonly string[], at: string): string[] {
    const lists = possible.filter((type) => type.startsWith('Array of '));
    if (Array.isArray(value) && lists.length > 0) {
      const elements = lists.map((type) => type.slice('Array of '.length));
      return value.flatMap((element, n) => oneOf(element, elements, `${at}[${n}]`));
    }
    const faults = possible.map((type) => typeFaults(value, type, at));
    return faults.toSorted((a, b) => a.length - b.length)[0] ?? [`without a type: ${at}`];
  }

  function typeFaults(value: unknown, type: string, at: string): string[] {
    const fits = simple[type];
    if (fits !== undefined) return fits(value) ? [] : [`not ${type}: ${at}`];
    const described = types[type];
    if (described === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
      return [`not ${type}: ${at}`];
    if (described.subtypes !== undefined) return oneOf(value, described.subtypes, at);
    return fields(value as Record<string, unknown>, described.fields ?? [], `${at}.`);
  }

  return { fields, oneOf };
}

const simple: Record<string, (value: unknown) => boolean> = {
  Integer: Number.isSafeInteger,
  Float: Number.isFinite,
  String: (value) => typeof value === 'string',
  Boolean: (value) => typeof value === 'boolean',
  InputFile: (value) => typeof value === 'object' && value !== null && 'bytes' in value,
};
